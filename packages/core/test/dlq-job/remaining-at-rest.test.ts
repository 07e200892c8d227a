import { openMemoryDlq } from "@bridge/dlq-memory";
import { BridgeError, type DlqStore } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import type { Job } from "../../src/dlq-job/job.ts";
import { progressOf } from "../../src/dlq-job/progress.ts";
import { BoundingClock } from "../support/bounding-clock.ts";
import { bound, type MemoryBridge } from "../support/memory-bridge.ts";
import { AT_ONCE, begun, fill, started, stored, until } from "./job-bridge.ts";
import { seenDlq } from "./seen-dlq.ts";

const ENTRIES = 400;
const SETTINGS = { ...AT_ONCE, rate: 100 };

interface World {
  readonly bridge: MemoryBridge;
  readonly dlq: DlqStore;
  readonly job: Job;
  /** The store answers nothing any more; the first deletions that it is asked for then it still does. */
  away: boolean;
  readonly lost: Set<string>;
}

async function world(deletes: number, isAway: (name: string) => boolean = () => true): Promise<World> {
  const clock = new BoundingClock();
  const dlq = openMemoryDlq({ maxEntries: 1_000, clock });
  const { admin } = dlq;
  const gone = (): BridgeError => new BridgeError("CONNECTION_LOST", "the server is away");
  const store = seenDlq(
    {
      ...dlq,
      admin: {
        ...admin,
        trash: admin.trash,
        delete: async (ids, signal, options) => {
          if (!made.away) return admin.delete(ids, signal, options);
          if (made.lost.size < deletes) {
            for (const id of ids) made.lost.add(id);
            await admin.delete(ids, signal, options);
          }
          throw gone();
        },
      },
    },
    (name) => {
      if (made.away && name !== "admin.delete" && isAway(name)) throw gone();
    },
  );
  const made: { away: boolean; lost: Set<string> } = { away: false, lost: new Set() };
  const bridge = await started({ clock, dlq: store });
  await fill(dlq, ENTRIES);
  const job = await begun(bridge, { settings: SETTINGS });
  await until(bridge, job.id, ({ counts }) => counts.succeeded > 20);
  return Object.assign(made, { bridge, dlq, job });
}

describe("interface 2.16: what remains of a job that stands still is what is there", () => {
  test.each([
    ["halted", 90_000],
    ["paused", 10_000],
    ["cancelled", 10_000],
  ] as const)("%s, when answers of deletions were lost as its store went away", async (state, awayMs) => {
    const at = await world(2);
    const { bridge, dlq, job } = at;
    const { clock, supervisor } = bridge;
    const out = bridge.hub.channel("out");
    const held = out.sends.hold();
    await clock.until(() => out.sends.held >= 4);
    at.away = true;
    held[Symbol.dispose]();
    await clock.until(() => at.lost.size === 2);
    if (state !== "halted") {
      const call = state === "paused" ? "pause" : "cancel";
      const asked = supervisor.jobs().ask(job.id, { call }, bound());
      await clock.advance(3_000);
      await asked;
    }
    await clock.advance(awayMs);
    at.away = false;
    const rests = await until(bridge, job.id, state);
    const there = (await stored(dlq)).length;
    expect(progressOf(rests)).toMatchObject({ remaining: there, succeeded: ENTRIES - there, skipped: 0, inDoubt: 0 });
    expect(out.arrived).toBe(ENTRIES - there);
    await supervisor.shutdown();
  });

  test("paused, when its store takes the job and answers no deletion: what is gone is counted all the same", async () => {
    const at = await world(2, (name) => name === "admin.delete");
    const { bridge, dlq, job } = at;
    const out = bridge.hub.channel("out");
    const held = out.sends.hold();
    await bridge.clock.until(() => out.sends.held >= 4);
    at.away = true;
    held[Symbol.dispose]();
    await bridge.clock.until(() => at.lost.size === 2);
    await bridge.supervisor.jobs().ask(job.id, { call: "pause" }, bound());
    const rests = await until(bridge, job.id, "paused");
    expect(progressOf(rests)).toMatchObject({ remaining: (await stored(dlq)).length, skipped: 2 });
    at.away = false;
    await bridge.supervisor.jobs().ask(job.id, { call: "resume" }, bound());
    const done = await until(bridge, job.id, "completed");
    expect(done.counts).toMatchObject({ succeeded: ENTRIES - 2, skipped: 2, failed: 0 });
    expect(out.arrived).toBe(ENTRIES);
    await bridge.supervisor.shutdown();
  });
});
