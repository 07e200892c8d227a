import { openMemoryDlq } from "@bridge/dlq-memory";
import { LONG } from "@bridge/tooling/long";
import { expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { AT_ONCE, begun, fill, started, until } from "./job-bridge.ts";

/** Over which of the bridge's time the rate is looked at. */
const SECONDS = 60;

test.each([
  { rate: 1, seconds: SECONDS },
  { rate: 50, seconds: SECONDS },
  { rate: 2_000, seconds: LONG ? SECONDS : 3 },
])("operators 3.5.4: $rate a second over $seconds s, within 5 %", { timeout: 600_000 }, async ({ rate, seconds }) => {
  const clock = new FakeClock();
  const entries = Math.ceil(rate * seconds * 1.1) + 10;
  const bridge = await started({
    clock,
    dlq: openMemoryDlq({ maxEntries: entries, clock }),
    policy: { maxInFlight: 256 },
  });
  const { supervisor, dlq, hub } = bridge;
  await fill(dlq, entries);
  const job = await begun(bridge, { settings: { ...AT_ONCE, rate, concurrency: 256 } });
  await clock.advance(0);
  const before = hub.channel("out").arrived;
  for (let second = 0; second < seconds; second++) {
    await clock.advance(1_000);
    hub.channel("out").drain();
  }
  const delivered = hub.channel("out").arrived - before;
  expect(delivered).toBeGreaterThanOrEqual(rate * seconds * 0.95);
  expect(delivered).toBeLessThanOrEqual(rate * seconds * 1.05);
  await supervisor.jobs().ask(job.id, { call: "cancel" }, bound());
  await until(bridge, job.id, "cancelled");
  await supervisor.shutdown();
});

test("operators 3.5.4: a change of the rate, up or down, is in force within a second", async () => {
  const bridge = await started();
  const { hub, supervisor, dlq, clock } = bridge;
  await fill(dlq, 900);
  const job = await begun(bridge, { settings: { ...AT_ONCE, rate: 0.1 } });
  await until(bridge, job.id, ({ counts }) => counts.succeeded === 1);
  const changed = async (rate: number): Promise<number> => {
    await supervisor.jobs().change(job.id, { rate }, bound());
    await clock.advance(1_000);
    const { arrived } = hub.channel("out");
    await clock.advance(1_000);
    return hub.channel("out").arrived - arrived;
  };
  expect(await changed(100)).toBeGreaterThanOrEqual(95);
  expect(await changed(5)).toBeLessThanOrEqual(6);
  expect(await changed(200)).toBeGreaterThanOrEqual(190);
  await supervisor.jobs().ask(job.id, { call: "cancel" }, bound());
  await until(bridge, job.id, "cancelled");
  await supervisor.shutdown();
});
