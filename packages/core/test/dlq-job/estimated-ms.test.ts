import { openMemoryDlq } from "@bridge/dlq-memory";
import { expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { AT_ONCE, fill, orderOf, started, until } from "./job-bridge.ts";

/** What is looked at now and then, such as whether a pause is over, is seen so much later at most. */
const LOOK_MS = 300;
/** The rate lets an entry go so much too early. */
const GRAIN_MS = 10;

test.each([
  { kind: "redrive", count: 0, ramp: [], rate: 100, estimated: 0 },
  { kind: "redrive", count: 1, ramp: [], rate: 10_000, estimated: 1 },
  { kind: "redrive", count: 400, ramp: [], rate: 10_000, estimated: 40 },
  { kind: "redrive", count: 400, ramp: [], rate: 900, estimated: 445 },
  { kind: "redrive", count: 3, ramp: [], rate: 0.5, estimated: 6_000 },
  { kind: "redrive", count: 11, ramp: [1, 10], rate: 10, estimated: 1_100 + 700 },
  { kind: "redrive", count: 12, ramp: [1, 10], rate: 10, estimated: 1_200 + 2 * 700 },
  { kind: "redrive", count: 40, ramp: [1, 10, 100], rate: 10, estimated: 4_000 + 2 * 700 },
  { kind: "purge", count: 400, ramp: [], rate: 900, estimated: 445 },
  { kind: "purge", count: 40, ramp: [1, 10], rate: 10, estimated: 4_000 },
] as const)(
  "operators 3.5.3: a $kind of $count, at $rate a second and with the ramp $ramp, is estimated at $estimated ms, and takes as long",
  async ({ kind, count, ramp, rate, estimated }) => {
    const clock = new FakeClock();
    const bridge = await started({ clock, dlq: openMemoryDlq({ maxEntries: 1_000, clock }) });
    await fill(bridge.dlq, count);
    const jobs = bridge.supervisor.jobs();
    const { job } = await jobs.plan(orderOf({ kind, settings: { ...AT_ONCE, rate, ramp, rampPauseMs: 700 } }), bound());
    expect(job.plan.estimatedMs).toBe(estimated);
    await jobs.start(job.id, { planHash: job.plan.hash }, bound());
    const { startedAt = 0, endedAt = 0 } = await until(bridge, job.id, "completed");
    // The first entry of a step does not wait, and nobody waits after the last batch of a purge, which is a second's at most.
    const steps = 1 + ramp.length;
    const free = kind === "purge" ? 1_000 : steps * (1_000 / rate + GRAIN_MS);
    expect(endedAt - startedAt).toBeGreaterThanOrEqual(estimated - free);
    expect(endedAt - startedAt).toBeLessThanOrEqual(estimated + steps * LOOK_MS);
    await bridge.supervisor.shutdown();
  },
);
