import { openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryOutbox } from "@bridge/memory";
import { BridgeError, type OutboxStore, systemRandom } from "@bridge/ports";
import { memoryHub } from "@bridge/transport-memory";
import { describe, expect, test } from "vitest";
import type { JobSettings } from "../../src/dlq-job/job.ts";
import { progressOf } from "../../src/dlq-job/progress.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, outage, refusal } from "../support/memory-bridge.ts";
import { AT_ONCE, begun, fill, started, stored, until, rewrite } from "./job-bridge.ts";
import { seenDlq } from "./seen-dlq.ts";

interface Left {
  readonly id: string;
  readonly clock: FakeClock;
  readonly dlq: ReturnType<typeof openMemoryDlq>;
  readonly outbox: OutboxStore;
}

/** What the owner of a redrive leaves that is killed while all that it may send at once is on loan from the outbox: nothing of it reaches a store any more. */
async function killedOwner(entries: number, settings: JobSettings): Promise<Left> {
  const clock = new FakeClock();
  const dlq = openMemoryDlq({ maxEntries: 100, clock });
  const outbox = openMemoryOutbox({ maxRecords: 100, retentionMs: 3_600_000, clock, random: systemRandom() });
  let isDead = false;
  const mortal = seenDlq(dlq, () => {
    if (isDead) throw new BridgeError("CONNECTION_LOST", "killed");
  });
  const deaf = new Proxy<OutboxStore>(outbox, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      return (...given: readonly unknown[]): unknown =>
        isDead ? new Promise(() => {}) : Reflect.apply(value, target, given);
    },
  });
  await fill(dlq, entries);
  const owner = await started({ deliveryMode: "shared_outbox", clock, dlq: mortal, outbox: deaf });
  const { sends } = owner.hub.channel("out");
  sends.hold();
  const { id } = await begun(owner, { settings });
  await clock.until(() => sends.held === settings.concurrency);
  isDead = true;
  return { id, clock, dlq, outbox };
}

describe("a redrive job through an outbox", () => {
  test("delivers all of its set once, and the drain deletes", async () => {
    const bridge = await started({ deliveryMode: "shared_outbox" });
    const { hub, supervisor, dlq } = bridge;
    await fill(dlq, 200);
    const job = await begun(bridge);
    expect((await until(bridge, job.id, "completed")).counts).toMatchObject({ succeeded: 200, failed: 0 });
    expect(hub.channel("out").arrived).toBe(200);
    expect(await stored(dlq)).toEqual([]);
    expect(supervisor.stats().unaccounted).toBe(0);
    await supervisor.shutdown();
  });

  test.each(["dlq", "drop"] as const)(
    "what the drain gives up by policy %s is marked, and no second entry is written",
    async (policy) => {
      const bridge = await started({ deliveryMode: "shared_outbox", policy: { onPermanentFailure: policy } });
      const { hub, supervisor, dlq } = bridge;
      await fill(dlq, 20);
      hub.channel("out").sends.failNext(Number.POSITIVE_INFINITY, refusal);
      const job = await begun(bridge);
      const done = await until(bridge, job.id, "completed");
      expect(done.counts).toMatchObject({ succeeded: 0, failed: 20 });
      expect(await stored(dlq)).toHaveLength(20);
      expect((await dlq.get("e00004", bound()))?.marks?.redrives).toMatchObject({ count: 1, jobId: job.id, jobTry: 1 });
      expect(supervisor.stats().unaccounted).toBe(0);
      await supervisor.shutdown();
    },
  );

  test("what an operator moves out of the outbox is marked and counts as failed, and no second entry is written", async () => {
    const backoff = { initialIntervalMs: 60_000, maxIntervalMs: 60_000, multiplier: 1, jitter: 0 };
    const bridge = await started({ deliveryMode: "shared_outbox", policy: { maxReplayAttempts: 2, backoff } });
    const { hub, supervisor, dlq, outbox, clock } = bridge;
    await fill(dlq, 1);
    hub.channel("out").sends.failNext(1, outage);
    const job = await begun(bridge);
    await clock.until(() => (supervisor.stats().legs[0]?.attempts ?? 0) > 0);
    await clock.advance(10);
    const [record] = await outbox.list({}, { limit: 1, offset: 0 }, bound());
    expect(await supervisor.deadLetterRecords([record?.id ?? ""], bound())).toEqual({ moved: 1, errors: [] });
    expect((await until(bridge, job.id, "completed")).counts).toMatchObject({ succeeded: 0, failed: 1, skipped: 0 });
    expect(await stored(dlq)).toEqual(["e00000"]);
    expect((await dlq.get("e00000", bound()))?.marks?.redrives).toMatchObject({ count: 1, jobId: job.id });
    expect(supervisor.stats().unaccounted).toBe(0);
    await supervisor.shutdown();
  });

  test.each([true, false])(
    "an entry that is quarantined while it waits in the outbox is pending until that has ended it, and is sent by nobody else: delivered %o",
    async (isDelivered) => {
      const { id, clock, dlq, outbox } = await killedOwner(1, { ...AT_ONCE, concurrency: 1 });
      const bridge = await started({ deliveryMode: "shared_outbox", clock, dlq, outbox });
      const { hub, supervisor } = bridge;
      const { sends } = hub.channel("out");
      if (!isDelivered) sends.failNext(1, refusal);
      const hold = sends.hold();
      await until(bridge, id, ({ pending }) => pending.length === 1);
      await dlq.marks.mark(new Map([["e00000", { quarantined: true }]]), bound());
      await clock.until(() => sends.held === 1);
      await clock.advance(5_000);
      expect(await supervisor.jobs().get(id, bound())).toMatchObject({
        state: "running",
        counts: { succeeded: 0, failed: 0, skipped: 0 },
        pending: ["e00000"],
      });
      hold[Symbol.dispose]();
      const { counts } = await until(bridge, id, "completed");
      expect(counts).toMatchObject(isDelivered ? { succeeded: 1, failed: 0 } : { succeeded: 0, failed: 1 });
      expect(hub.channel("out").arrived).toBe(isDelivered ? 1 : 0);
      expect(await stored(dlq)).toEqual(isDelivered ? [] : ["e00000"]);
      await supervisor.shutdown();
    },
  );

  test("an entry that is deleted while its record is sent counts as skipped when that fails, and nothing is written", async () => {
    const bridge = await started({ deliveryMode: "shared_outbox" });
    const { hub, supervisor, dlq } = bridge;
    await fill(dlq, 1);
    const { sends } = hub.channel("out");
    sends.failNext(1, refusal);
    const hold = sends.hold();
    const job = await begun(bridge);
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    await dlq.admin?.delete(["e00000"], bound());
    hold[Symbol.dispose]();
    const done = await until(bridge, job.id, "completed");
    expect(done).toMatchObject({ counts: { succeeded: 0, failed: 0, skipped: 1 }, pending: [], errors: [] });
    expect(await stored(dlq)).toEqual([]);
    expect(supervisor.stats().unaccounted).toBe(0);
    await supervisor.shutdown();
  });

  test("a stop while records wait: they are pending, count for nothing twice, and complete when the outbox has delivered them", async () => {
    // A stop is bounded by the machine's time, in which any amount of the bridge's may pass.
    const bridge = await started({ deliveryMode: "shared_outbox", policy: { sendTimeoutMs: 1e9 } });
    const { hub, supervisor, dlq } = bridge;
    await fill(dlq, 10);
    const hold = hub.channel("out").sends.hold();
    const job = await begun(bridge, { settings: { ...AT_ONCE, concurrency: 4 } });
    await hub.channel("out").until((channel) => channel.sends.held === 4, bound());
    const stopping = supervisor.stop(bound());
    await until(bridge, job.id, "waiting");
    hold[Symbol.dispose]();
    await stopping;
    await supervisor.start(bound());
    const done = await until(bridge, job.id, "completed");
    expect(done.counts).toMatchObject({ succeeded: 10, failed: 0, skipped: 0 });
    expect(done.pending).toEqual([]);
    expect(await stored(dlq)).toEqual([]);
    await supervisor.shutdown();
  });

  test.each((["pause", "cancel"] as const).flatMap((call) => [true, false].map((isSilent) => ({ call, isSilent }))))(
    "spec 4.10.6: what a former owner has put into the outbox settles within 30 s before the job stands still, and what remains is there: %o",
    async ({ call, isSilent }) => {
      const bridge = await started({ deliveryMode: "shared_outbox", policy: { sendTimeoutMs: 1e9 } });
      const { hub, supervisor, dlq, clock } = bridge;
      const { sends } = hub.channel("out");
      await fill(dlq, 1);
      const hold = sends.hold();
      const { id } = await begun(bridge);
      await clock.until(() => sends.held > 0);
      let isStopped = false;
      void supervisor.stop(bound()).then(() => (isStopped = true));
      await clock.until(() => isStopped, 100);
      await supervisor.start(bound());
      await until(bridge, id, ({ owner, pending }) => owner !== undefined && pending.length > 0);
      await supervisor.jobs().ask(id, { call }, bound());
      await clock.advance(20_000);
      expect(await supervisor.jobs().get(id, bound())).toMatchObject({ state: "running", requested: { call } });
      if (!isSilent) hold[Symbol.dispose]();
      await clock.advance(12_000);
      const { state, ...job } = await supervisor.jobs().get(id, bound());
      expect(state).toBe(call === "pause" ? "paused" : "cancelled");
      expect(job.pending.length > 0).toBe(isSilent);
      expect(progressOf({ state, ...job }).remaining).toBe((await stored(dlq)).length);
      hold[Symbol.dispose]();
      await supervisor.shutdown();
    },
  );

  test.each(["pause", "cancel"] as const)(
    "spec 4.10.6: %s of a job whose owner was killed: what that had put into the outbox is pending, and delivered once",
    async (call) => {
      const { id, ...left } = await killedOwner(10, { ...AT_ONCE, concurrency: 4 });
      const { clock, dlq } = left;
      const next = await started({ deliveryMode: "shared_outbox", ...left });
      await next.supervisor.jobs().ask(id, { call }, bound());
      const still = await until(next, id, call === "pause" ? "paused" : "cancelled");
      expect(progressOf(still)).toMatchObject({ pending: 4, remaining: 10, skipped: 0, inDoubt: 4 });
      await clock.advance(180_000);
      expect(await stored(dlq)).toHaveLength(6);
      if (call === "pause") {
        await next.supervisor.jobs().ask(id, { call: "resume" }, bound());
        const done = await until(next, id, "completed");
        expect(done.counts).toMatchObject({ succeeded: 10, skipped: 0, failed: 0 });
      }
      await next.supervisor.shutdown();
    },
  );

  test("spec 4.10.6: what is delivered while the outbox is asked what a killed owner has left there is counted once", async () => {
    const { id, outbox, ...left } = await killedOwner(10, { ...AT_ONCE, concurrency: 4 });
    const { clock } = left;
    const answer = Promise.withResolvers<void>();
    let isSlow = false;
    const slow: OutboxStore = {
      ...outbox,
      async redriving(entryId, asking) {
        const there = await outbox.redriving(entryId, asking);
        if (isSlow) await answer.promise;
        return there;
      },
    };
    const next = await started({ deliveryMode: "shared_outbox", ...left, outbox: slow });
    const out = next.hub.channel("out");
    const hold = out.sends.hold();
    await clock.until(() => out.sends.held === 4);
    isSlow = true;
    await next.supervisor.jobs().ask(id, { call: "pause" }, bound());
    await clock.advance(1_500);
    hold[Symbol.dispose]();
    await clock.advance(1_500);
    answer.resolve();
    const paused = await until(next, id, "paused");
    expect(out.arrived).toBe(4);
    expect(progressOf(paused)).toMatchObject({ succeeded: 4, pending: 4, remaining: 6 });
    await next.supervisor.shutdown();
  });

  test("operators 3.5.2: what was marked, of which the outbox was not told before the process was killed, is not sent again", async () => {
    const clock = new FakeClock();
    const hub = memoryHub();
    const dlq = openMemoryDlq({ maxEntries: 100, clock });
    const outbox = openMemoryOutbox({ maxRecords: 100, retentionMs: 3_600_000, clock, random: systemRandom() });
    const deaf: OutboxStore = { ...outbox, finish: () => new Promise(() => {}) };
    const options = { deliveryMode: "shared_outbox", clock, hub, dlq } as const;
    const killed = await started({ ...options, outbox: deaf });
    await fill(dlq, 5);
    const { sends } = hub.channel("out");
    sends.failNext(Number.POSITIVE_INFINITY, refusal);
    const job = await begun(killed, { settings: { ...AT_ONCE, halt: { ...AT_ONCE.halt, failureRatio: 1 } } });
    const marked = async (): Promise<number> => {
      const { entries } = await dlq.page({}, { limit: 10, budget: 10, order: "oldest" }, bound());
      return entries.filter(({ marks }) => marks?.redrives?.jobId === job.id).length;
    };
    for (let step = 0; step < 1_000 && (await marked()) < 5; step++) await clock.advance(20);
    expect(killed.supervisor.stats().legs[0]?.attempts).toBe(5);

    const next = await started({ ...options, outbox });
    const pending = async () => (await outbox.list({}, { limit: 10, offset: 0 }, bound())).length;
    for (let step = 0; step < 10_000 && (await pending()) > 0; step++) await clock.advance(20);
    expect(await pending()).toBe(0);
    expect(next.supervisor.stats().legs[0]?.attempts).toBe(0);
    expect(await marked()).toBe(5);
    await next.supervisor.shutdown();
  });

  test("operators 3.5.2: what failed in the outbox is counted once, also when its lane has not come to it since its owner was killed", async () => {
    const clock = new FakeClock();
    const dlq = openMemoryDlq({ maxEntries: 100, clock });
    let isDead = false;
    const mortal = seenDlq(dlq, () => {
      if (isDead) throw new BridgeError("CONNECTION_LOST", "killed");
    });
    await fill(dlq, 5);
    const killed = await started({ deliveryMode: "shared_outbox", clock, dlq: mortal });
    const { id } = await begun(killed, { settings: { ...AT_ONCE, rate: 1 } });
    isDead = true;
    // As the dead one left it: the entry was in its outbox, which has given it up since.
    await rewrite(dlq.jobs, id, () => ({ pending: ["e00003"] }));
    const redriven = { lastAt: clock.now(), lastCode: "UNAVAILABLE", lastError: "503", jobId: id, jobTry: 1 } as const;
    await dlq.marks.mark(new Map([["e00003", { redriven }]]), bound());

    const next = await started({ deliveryMode: "shared_outbox", clock, dlq });
    const done = await until(next, id, "completed");
    expect(done.counts).toMatchObject({ succeeded: 4, failed: 1, skipped: 0 });
    expect(done.total).toBe(5);
    await next.supervisor.shutdown();
  });
});

test("operators 3.3: what a killed owner had sent from the outbox does not halt the job of its follower, who waits until it is sent again", async () => {
  const halt = { failureRatio: 0.1, minAttempts: 20, consecutive: 10 };
  const { id, ...left } = await killedOwner(60, { ...AT_ONCE, halt });
  const next = await started({ deliveryMode: "shared_outbox", ...left });
  const seen = await until(next, id, ({ state }) => state === "completed" || state === "halted");
  expect([seen.state, seen.halted]).toEqual(["completed", undefined]);
  expect(seen.counts).toMatchObject({ failed: 0 });
  expect(next.hub.channel("out").arrived).toBe(60);
  await next.supervisor.shutdown();
});
