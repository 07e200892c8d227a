import { openMemoryDlq } from "@bridge/dlq-memory";
import { BridgeError, type DlqStore, type Processor } from "@bridge/ports";
import { expect, test } from "vitest";
import type { Job, JobCall } from "../../src/dlq-job/job.ts";
import { progressOf } from "../../src/dlq-job/progress.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, type MemoryBridge, refusal } from "../support/memory-bridge.ts";
import { AT_ONCE, begun, fill, started, stored, until } from "./job-bridge.ts";
import { seenDlq } from "./seen-dlq.ts";

const COUNT = 400;
const KINDS = ["redrive", "purge"] as const;

/** A job whose owner was killed after it had done more than it had written; it erases what it purges at once. */
async function killed(kind: Job["kind"], held = 0) {
  const clock = new FakeClock();
  const dlq = openMemoryDlq({ maxEntries: 1_000, clock });
  let [isDoomed, isDead] = [false, false];
  const store = seenDlq(dlq, (name) => {
    // Before it is written how far the job is.
    isDead ||= isDoomed && name === "jobs.put";
    if (isDead) throw new BridgeError("CONNECTION_LOST", "killed");
  });
  const first = await started({ clock, dlq: store });
  await fill(dlq, COUNT);
  const ids = (await stored(dlq)).slice(-held || COUNT);
  await dlq.marks.mark(new Map(ids.map((entryId) => [entryId, { quarantined: true }])), bound());
  const { id } = await begun(first, { kind, settings: { ...AT_ONCE, rate: 40, concurrency: 4 } });
  await until(first, id, ({ counts }) => counts.succeeded > 20);
  isDoomed = true;
  await clock.until(() => isDead);
  const next = (): Promise<MemoryBridge> => started({ clock, dlq: seenDlq(dlq, () => {}) });
  return { clock, dlq, id, next };
}

/** What is done and what remains, and what is there. */
async function sumsOf(job: Job, dlq: DlqStore): Promise<object> {
  const { done, remaining, total } = progressOf(job);
  return {
    total,
    sum: done + remaining,
    lane: job.lanes[0]?.done === done,
    isThere: (await stored(dlq)).length === remaining,
  };
}

const RIGHT = { total: COUNT, sum: COUNT, lane: true, isThere: true };

const asks = (bridge: MemoryBridge, id: string, call: Exclude<JobCall, "start" | "change">): Promise<Job> =>
  bridge.supervisor.jobs().ask(id, { call }, bound());

test.each(KINDS.flatMap((kind) => (["cancel", "pause"] as const).map((call) => [call, kind] as const)))(
  "spec 4.10.6: %s of a %s whose owner was killed: what that had done last is counted, and what remains is there",
  async (call, kind) => {
    const { dlq, id, next } = await killed(kind);
    const bridge = await next();
    await asks(bridge, id, call);
    const still = await until(bridge, id, call === "cancel" ? "cancelled" : "paused");
    expect(await sumsOf(still, dlq)).toEqual(RIGHT);
    expect(still.counts.skipped).toBeGreaterThan(0);
    if (call === "pause") {
      await asks(bridge, id, "resume");
      const done = await until(bridge, id, "completed");
      expect(await sumsOf(done, dlq)).toEqual(RIGHT);
      expect(done.counts.skipped).toBe(still.counts.skipped);
    }
    await bridge.supervisor.shutdown();
  },
);

test.each(KINDS)(
  "spec 4.10.6: so it is of a %s that has gone on since, at another owner that was stopped",
  async (kind) => {
    const { clock, dlq, id, next } = await killed(kind);
    const second = await next();
    await until(second, id, ({ counts }) => counts.succeeded > 60);
    let isDone = false;
    void second.supervisor.shutdown().finally(() => (isDone = true));
    await clock.until(() => isDone);
    const third = await next();
    await asks(third, id, "cancel");
    expect(await sumsOf(await until(third, id, "cancelled"), dlq)).toEqual(RIGHT);
    await third.supervisor.shutdown();
  },
);

test("spec 4.10.6: a redrive that waits since its owner was killed is counted before it is cancelled; what is quarantined remains", async () => {
  const { clock, dlq, id, next } = await killed("redrive");
  const bridge = await next();
  await bridge.supervisor.stop(bound());
  await until(bridge, id, ({ state }) => state === "waiting");
  const [oldest = ""] = await stored(dlq);
  await dlq.marks.mark(new Map([[oldest, { quarantined: true }]]), bound());
  await clock.advance(5_000);
  await asks(bridge, id, "cancel");
  expect(await sumsOf(await until(bridge, id, "cancelled"), dlq)).toEqual(RIGHT);
  await bridge.supervisor.shutdown();
});

test("spec 4.10.6: what was quarantined before the plan hides nothing of what was delivered and not counted", async () => {
  const HELD = 30;
  const { dlq, id, next } = await killed("redrive", HELD);
  const bridge = await next();
  await asks(bridge, id, "pause");
  const paused = await until(bridge, id, "paused");
  expect(await sumsOf(paused, dlq)).toMatchObject({ total: COUNT - HELD, sum: COUNT - HELD });
  expect(progressOf(paused).remaining).toBe((await stored(dlq)).length - HELD);
  await bridge.supervisor.shutdown();
});

test("spec 4.10.6: so it is when some fail after it was asked to stand still", async () => {
  const clock = new FakeClock();
  const dlq = openMemoryDlq({ maxEntries: 1_000, clock });
  let isBegun = false;
  const picky: Processor = {
    async process(envelope) {
      if (Number(envelope.subject.slice(1)) % 7 !== 0) return { kind: "pass", envelope };
      // A plan takes each through it, too.
      if (isBegun) await clock.delay(1_500, bound());
      throw refusal;
    },
  };
  let [isDoomed, isDead] = [false, false];
  const store = seenDlq(dlq, (name) => {
    isDead ||= isDoomed && name === "jobs.put";
    if (isDead) throw new BridgeError("CONNECTION_LOST", "killed");
  });
  const options = { clock, processors: [picky] };
  const first = await started({ ...options, dlq: store });
  await fill(dlq, COUNT);
  const settings = {
    ...AT_ONCE,
    rate: 40,
    concurrency: 16,
    halt: { ...AT_ONCE.halt, failureRatio: 1, consecutive: 0 },
  };
  const { id } = await begun(first, { settings });
  isBegun = true;
  await until(first, id, ({ counts }) => counts.succeeded > 20);
  isDoomed = true;
  await clock.until(() => isDead);
  const second = await started({ ...options, dlq: seenDlq(dlq, () => {}) });
  await until(second, id, ({ counts }) => counts.succeeded > 60);
  await asks(second, id, "pause");
  const paused = await until(second, id, "paused");
  const { done, remaining } = progressOf(paused);
  const left = (await dlq.page({}, { limit: 1_000, budget: 10_000, order: "oldest" }, bound())).entries;
  expect(done + remaining).toBe(COUNT);
  expect(left.length).toBe(remaining + paused.counts.failed);
  await second.supervisor.shutdown();
});
