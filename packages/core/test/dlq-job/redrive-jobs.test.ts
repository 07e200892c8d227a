import { BridgeError, type DlqStore, newHeaders, type Processor, RESERVED } from "@bridge/ports";
import { openMemoryDlq } from "@bridge/dlq-memory";
import { describe, expect, test } from "vitest";
import { replayId } from "../../src/dlq-job/replay-id.ts";
import { envelopeOf } from "../support/envelope.ts";
import { bound, outage, refusal } from "../support/memory-bridge.ts";
import { AT_ONCE, begun, entryOf, fill, started, stored, until } from "./job-bridge.ts";

/** Refuses what `refuses` says, as a target would. */
function picky(refuses: (id: string) => boolean): Processor {
  return {
    async process(envelope) {
      if (refuses(envelope.subject)) throw refusal;
      return { kind: "pass", envelope };
    },
  };
}

describe("a redrive job", () => {
  test("delivers all of its set and deletes each", async () => {
    const bridge = await started();
    const { hub, supervisor, dlq } = bridge;
    await fill(dlq, 500);
    const job = await begun(bridge);
    expect(job).toMatchObject({ state: "running", total: 500, plan: { total: 500, exact: true } });
    const done = await until(bridge, job.id, "completed");
    expect(done).toMatchObject({ counts: { succeeded: 500, failed: 0, skipped: 0 }, inFlight: 0, total: 500 });
    expect(hub.channel("out").arrived).toBe(500);
    expect(await stored(dlq)).toEqual([]);
    await supervisor.shutdown();
  });

  test("operators 3.5.6: new failures of the same kind during a job, one of a message of its set among them, are neither touched nor counted", async () => {
    const bridge = await started();
    const { hub, supervisor, dlq, clock } = bridge;
    await fill(dlq, 50);
    const [first] = (await dlq.page?.({}, { limit: 1, budget: 1, order: "oldest" }, bound()))?.entries ?? [];
    const fingerprint = first?.fingerprint;
    const job = await begun(bridge, { query: { fingerprint }, settings: { ...AT_ONCE, rate: 10 } });
    expect(job.total).toBe(50);
    await until(bridge, job.id, ({ counts }) => counts.succeeded > 5);
    for (let nth = 900; nth < 920; nth++) {
      await dlq.put(entryOf(nth, { failedAt: clock.now() }), bound());
      await clock.advance(100);
    }
    // The last one of its set has been redriven by somebody else, and has failed again.
    await dlq.admin?.delete(["e00049"], bound());
    await dlq.put(entryOf(49, { failedAt: clock.now() }), bound());
    const later = (await stored(dlq)).filter((id) => id >= "e00049");
    const done = await until(bridge, job.id, "completed");
    expect(done).toMatchObject({ total: 50, counts: { succeeded: 49, failed: 0, skipped: 1 } });
    expect(hub.channel("out").arrived).toBe(49);
    expect(await stored(dlq)).toEqual(later);
    expect(later).toHaveLength(21);
    for (const id of later) {
      const entry = await dlq.get(id, bound());
      expect([id, entry?.marks]).toEqual([id, undefined]);
    }
    expect(
      (await dlq.page?.({ fingerprint }, { limit: 100, budget: 100, order: "oldest" }, bound()))?.entries,
    ).toHaveLength(21);
    await supervisor.shutdown();
  });

  test("operators 3.4: what fails is marked, and no second entry is written; nothing of the job leaves the bridge", async () => {
    const bridge = await started();
    const { hub, supervisor, dlq } = bridge;
    await fill(dlq, 20);
    hub.channel("out").sends.failNext(Number.POSITIVE_INFINITY, refusal);
    const job = await begun(bridge);
    const done = await until(bridge, job.id, "completed");
    expect(done).toMatchObject({ counts: { succeeded: 0, failed: 20 }, errors: [{ code: "REJECTED", count: 20 }] });
    expect(await stored(dlq)).toHaveLength(20);
    const entry = await dlq.get("e00007", bound());
    expect(entry?.marks?.redrives).toMatchObject({ count: 1, jobId: job.id, jobTry: 1, lastCode: "REJECTED" });
    expect(entry?.envelope.headers[RESERVED.job]).toBeUndefined();
    expect(supervisor.stats().unaccounted).toBe(0);
    await supervisor.shutdown();
  });

  test("operators 3.4: of an entry for a whole fan-out each leg is attempted once, and its failures in one try are one redrive", async () => {
    const bridge = await started({ dispatchMode: "fan_out", bindings: ["a", "b", "c"] });
    const { hub, supervisor, dlq } = bridge;
    await fill(dlq, 1, () => ({ bindingId: "" }));
    for (const leg of ["a", "b", "c"]) hub.channel(leg).sends.failNext(1, refusal);
    const job = await begun(bridge);
    expect(await until(bridge, job.id, "completed")).toMatchObject({ counts: { succeeded: 0, failed: 1 } });
    // A second send would arrive.
    expect(["a", "b", "c"].map((leg) => hub.channel(leg).arrived)).toEqual([0, 0, 0]);
    expect((await dlq.get("e00000", bound()))?.marks?.redrives).toMatchObject({ count: 1, jobId: job.id, jobTry: 1 });
    await supervisor.shutdown();
  });

  test("interface 4.10.1: an entry that is deleted while it is sent counts as skipped when that fails, and nothing is written", async () => {
    const bridge = await started();
    const { hub, supervisor, dlq } = bridge;
    await fill(dlq, 1);
    const hold = hub.channel("out").sends.hold();
    const job = await begun(bridge);
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    await dlq.admin?.delete(["e00000"], bound());
    hub.channel("out").sends.failNext(1, refusal);
    hold[Symbol.dispose]();
    const done = await until(bridge, job.id, "completed");
    expect(done).toMatchObject({ counts: { succeeded: 0, failed: 0, skipped: 1 }, errors: [] });
    expect(await stored(dlq)).toEqual([]);
    expect(supervisor.stats()).toMatchObject({ unaccounted: 0 });
    await supervisor.shutdown();
  });

  test("a policy that drops leaves a mark, too", async () => {
    const bridge = await started({ policy: { maxReplayAttempts: 1, onRejected: "drop" } as never });
    const { hub, supervisor, dlq } = bridge;
    await fill(dlq, 3);
    hub.channel("out").sends.failNext(3, refusal);
    const job = await begun(bridge);
    const done = await until(bridge, job.id, "completed");
    expect(done.counts).toMatchObject({ failed: 3 });
    expect((await dlq.get("e00001", bound()))?.marks?.redrives).toMatchObject({ count: 1, jobId: job.id });
    await supervisor.shutdown();
  });

  test("operators 3.4: entries of one ordering key go one after another, in the order in which they failed", async () => {
    const order: string[] = [];
    const seen: Processor = {
      async process(envelope) {
        order.push(envelope.subject);
        return { kind: "pass", envelope };
      },
    };
    const bridge = await started({ processors: [seen] });
    const { supervisor, dlq } = bridge;
    const keyed = (nth: number) => {
      const headers = Object.assign(newHeaders(), { [RESERVED.orderingKey]: `k${nth % 3}` });
      return { envelope: envelopeOf({ id: `m${nth}`, subject: `${nth}`, headers }) };
    };
    await fill(dlq, 120, keyed);
    const job = await begun(bridge, { settings: { ...AT_ONCE, concurrency: 64 } });
    order.length = 0;
    await until(bridge, job.id, "completed");
    for (const key of [0, 1, 2]) {
      const own = order.map(Number).filter((nth) => nth % 3 === key);
      expect(own).toEqual(own.toSorted((a, b) => a - b));
      expect(own).toHaveLength(40);
    }
    await supervisor.shutdown();
  });

  test("operators 3.4: an entry has one envelope id in one try of a job, and another one in the next", async () => {
    const bridge = await started();
    const { hub, supervisor, dlq } = bridge;
    await fill(dlq, 1);
    hub.channel("out").sends.failNext(1, refusal);
    const job = await begun(bridge, { settings: { ...AT_ONCE, halt: { ...AT_ONCE.halt, consecutive: 1 } } });
    await until(bridge, job.id, "halted");
    await supervisor.jobs().ask(job.id, { call: "resume", retryFailed: true }, bound());
    await until(bridge, job.id, "completed");
    expect(
      hub
        .channel("out")
        .messages()
        .map(({ id }) => id),
    ).toEqual([replayId({ jobId: job.id, attempt: 2 }, "e00000")]);
    await supervisor.shutdown();
  });

  test("entries that are quarantined are left out, unless the filter asks for them", async () => {
    const bridge = await started();
    const { hub, supervisor, dlq } = bridge;
    await fill(dlq, 6);
    await dlq.marks?.mark(new Map([["e00002", { quarantined: true }]]), bound());
    const job = await begun(bridge);
    expect(await until(bridge, job.id, "completed")).toMatchObject({ total: 5, counts: { succeeded: 5, skipped: 0 } });
    expect(await stored(dlq)).toEqual(["e00002"]);
    const second = await begun(bridge, { query: { quarantined: true } });
    expect(await until(bridge, second.id, "completed")).toMatchObject({ total: 1, counts: { succeeded: 1 } });
    expect(hub.channel("out").arrived).toBe(6);
    await supervisor.shutdown();
  });

  test("a limit takes the oldest so many", async () => {
    const bridge = await started();
    const { supervisor, dlq } = bridge;
    await fill(dlq, 30, (nth) => ({ failedAt: Math.floor(nth / 7) }));
    const before = await stored(dlq);
    const job = await begun(bridge, { limit: 12 });
    expect(await until(bridge, job.id, "completed")).toMatchObject({ total: 12, counts: { succeeded: 12 } });
    expect(await stored(dlq)).toEqual(before.slice(12));
    await supervisor.shutdown();
  });

  test("entries of a route that is not there fail, and so do those of a binding", async () => {
    const bridge = await started();
    const { supervisor, dlq } = bridge;
    await fill(dlq, 4, (nth) => (nth % 2 === 0 ? { routeId: "gone" } : { bindingId: "gone" }));
    const job = await begun(bridge);
    const done = await until(bridge, job.id, "completed");
    expect(done.counts).toMatchObject({ failed: 4 });
    expect(done.errors.map(({ code, error }) => `${code} ${error}`)).toEqual([
      "BINDING_UNRESOLVED route or binding not found",
      "BINDING_UNRESOLVED route or binding not found",
    ]);
    expect(done.lanes).toMatchObject([{ done: 2 }, { done: 2 }]);
    await supervisor.shutdown();
  });

  test("an entry that somebody deletes meanwhile is skipped", async () => {
    const bridge = await started();
    const { supervisor, dlq } = bridge;
    await fill(dlq, 40);
    const job = await begun(bridge, { settings: { ...AT_ONCE, rate: 10 } });
    await until(bridge, job.id, ({ counts }) => counts.succeeded > 3);
    await dlq.admin?.delete(["e00030", "e00035"], bound());
    expect(await until(bridge, job.id, "completed")).toMatchObject({
      total: 40,
      counts: { succeeded: 38, skipped: 2 },
    });
    await supervisor.shutdown();
  });
});

describe("operators 3.5.1: halting", () => {
  const settings = {
    rate: 10_000,
    concurrency: 8,
    ramp: [1, 10, 100, 1000],
    rampPauseMs: 1_000,
    halt: { failureRatio: 0.01, minAttempts: 20, consecutive: 10 },
  };

  test("a target that refuses every 50th from step 3 on: halted by the end of that step, and after the repair every entry is there", async () => {
    let attempts = 0;
    let isBroken = true;
    const bridge = await started({
      processors: [picky(() => isBroken && ++attempts > 11 && attempts % 50 === 0)],
    });
    const { hub, supervisor, dlq } = bridge;
    await fill(dlq, 1_000);
    attempts = 0;
    const job = await begun(bridge, { settings });
    attempts = 0;
    const halted = await until(bridge, job.id, "halted");
    const { counts, halted: why, step } = halted;
    expect(step.index).toBe(2);
    expect(why).toMatchObject({ why: "failure_ratio", error: expect.stringContaining("refused") as string });
    expect(attempts).toBe(counts.succeeded + counts.failed);
    expect(attempts).toBeLessThanOrEqual(111 + settings.concurrency);
    expect(hub.channel("out").arrived).toBe(counts.succeeded);
    isBroken = false;
    const jobs = supervisor.jobs();
    await jobs.ask(job.id, { call: "resume", retryFailed: true }, bound());
    const done = await until(bridge, job.id, "completed");
    expect(done).toMatchObject({ attempt: 2, total: 1_000, counts: { succeeded: 1_000, failed: 0, skipped: 0 } });
    expect(hub.channel("out").arrived).toBe(1_000);
    expect(await stored(dlq)).toEqual([]);
    await supervisor.shutdown();
  });

  test("the first step, of one entry that fails, halts", async () => {
    const bridge = await started();
    const { hub, supervisor, dlq } = bridge;
    await fill(dlq, 20);
    hub.channel("out").sends.failNext(1, outage);
    const job = await begun(bridge, { settings });
    const halted = await until(bridge, job.id, "halted");
    expect(halted.counts).toMatchObject({ succeeded: 0, failed: 1 });
    expect(halted.halted).toMatchObject({ why: "failure_ratio", failed: 1, attempts: 1 });
    await supervisor.shutdown();
  });

  test("between two steps it pauses", async () => {
    const bridge = await started();
    const { supervisor, dlq, clock } = bridge;
    await fill(dlq, 5);
    const before = clock.now();
    const job = await begun(bridge, { settings: { ...settings, rampPauseMs: 30_000 } });
    await until(bridge, job.id, ({ counts }) => counts.succeeded === 1);
    await clock.advance(20_000);
    expect((await supervisor.jobs().get(job.id, bound())).counts.succeeded).toBe(1);
    await until(bridge, job.id, "completed");
    expect(clock.now() - before).toBeGreaterThanOrEqual(30_000);
    await supervisor.shutdown();
  });
});

describe("calls of a job at work", () => {
  test("pause lets what is in flight settle and begins nothing; resume goes on; cancel keeps what was done", async () => {
    const bridge = await started();
    const { hub, supervisor, dlq, clock } = bridge;
    const jobs = supervisor.jobs();
    await fill(dlq, 100);
    const job = await begun(bridge, { settings: { ...AT_ONCE, rate: 20 } });
    await until(bridge, job.id, ({ counts }) => counts.succeeded > 5);
    expect(await jobs.ask(job.id, { call: "pause" }, bound())).toMatchObject({
      state: "running",
      requested: { call: "pause" },
    });
    const paused = await until(bridge, job.id, "paused");
    const { arrived } = hub.channel("out");
    expect(paused.counts.succeeded).toBe(arrived);
    await clock.advance(5_000);
    expect(hub.channel("out").arrived).toBe(arrived);
    await jobs.ask(job.id, { call: "resume" }, bound());
    await until(bridge, job.id, ({ counts }) => counts.succeeded > arrived + 5);
    await jobs.ask(job.id, { call: "cancel" }, bound());
    const cancelled = await until(bridge, job.id, "cancelled");
    expect(cancelled.counts.succeeded).toBe(hub.channel("out").arrived);
    expect(await stored(dlq)).toHaveLength(100 - cancelled.counts.succeeded);
    await supervisor.shutdown();
  });
});

describe("stop, pause, swap", () => {
  test("a stopped bridge: the job waits, says why, and goes on by itself after the start", async () => {
    const bridge = await started();
    const { hub, supervisor, dlq } = bridge;
    await fill(dlq, 100);
    const job = await begun(bridge, { settings: { ...AT_ONCE, rate: 20 } });
    await until(bridge, job.id, ({ counts }) => counts.succeeded > 5);
    const stopping = supervisor.stop(bound());
    const waiting = await until(bridge, job.id, "waiting");
    await stopping;
    expect(waiting.waitingFor).toBe("the bridge is stopped");
    await supervisor.start(bound());
    const done = await until(bridge, job.id, "completed");
    expect(done.counts).toMatchObject({ succeeded: 100, failed: 0 });
    expect(hub.channel("out").arrived).toBe(100);
    await supervisor.shutdown();
  });

  test("operators 12.5: start needs no runtime", async () => {
    const bridge = await started();
    const { supervisor, dlq } = bridge;
    await fill(dlq, 3);
    await supervisor.stop(bound());
    const job = await begun(bridge);
    expect(job.state).toBe("running");
    expect((await until(bridge, job.id, "waiting")).waitingFor).toBe("the bridge is stopped");
    await supervisor.start(bound());
    await until(bridge, job.id, "completed");
    await supervisor.shutdown();
  });

  test("operators 3.4: once the bridge has started a job goes on at once, not when jobs are looked for next", async () => {
    const bridge = await started();
    const { hub, supervisor, dlq, clock } = bridge;
    await fill(dlq, 3);
    await supervisor.stop(bound());
    const job = await begun(bridge);
    await until(bridge, job.id, "waiting");
    // It has just been looked for: the next time is in two seconds.
    await clock.advance(2_000);
    await supervisor.start(bound());
    await clock.advance(500);
    expect(hub.channel("out").arrived).toBe(3);
    await supervisor.shutdown();
  });

  test("a route that is paused: the job waits", async () => {
    const bridge = await started();
    const { supervisor, dlq } = bridge;
    await fill(dlq, 50);
    const job = await begun(bridge, { settings: { ...AT_ONCE, rate: 20 } });
    await until(bridge, job.id, ({ counts }) => counts.succeeded > 2);
    supervisor.pauseRoute("r");
    expect((await until(bridge, job.id, "waiting")).waitingFor).toBe("route is paused");
    supervisor.resumeRoute("r");
    expect((await until(bridge, job.id, "completed")).counts).toMatchObject({ succeeded: 50, failed: 0 });
    await supervisor.shutdown();
  });

  test("a shutdown in the middle gives the job up, with all that was done; the next process goes on at once", async () => {
    const dlq = openMemoryDlq({ maxEntries: 1_000 });
    const lasting: DlqStore = { ...dlq, async [Symbol.asyncDispose]() {} };
    const first = await started({ dlq: lasting });
    await fill(dlq, 100);
    const job = await begun(first, { settings: { ...AT_ONCE, rate: 50 } });
    await until(first, job.id, ({ counts }) => counts.succeeded > 20);
    await first.supervisor.shutdown();
    const second = await started({ dlq: lasting, clock: first.clock });
    const left = await second.supervisor.jobs().get(job.id, bound());
    expect(left.counts.succeeded).toBe(first.hub.channel("out").arrived);
    const done = await until(second, job.id, "completed");
    expect(done.counts).toMatchObject({ succeeded: 100, failed: 0, skipped: 0, inDoubt: 0 });
    expect(first.hub.channel("out").arrived + second.hub.channel("out").arrived).toBe(100);
    expect(second.supervisor.stats().jobs.adoptions).toBe(0);
    await second.supervisor.shutdown();
  });

  test("a store that takes no writes for a minute halts it", async () => {
    const dlq = openMemoryDlq({ maxEntries: 1_000 });
    let isFull = false;
    const store: DlqStore = {
      ...dlq,
      jobs: {
        ...dlq.jobs,
        put: async (...given) => {
          if (isFull) throw new BridgeError("UNAVAILABLE", "the disk is full");
          return dlq.jobs.put(...given);
        },
      },
    };
    const bridge = await started({ dlq: store });
    const { supervisor, clock, hub } = bridge;
    await fill(dlq, 1_000);
    const job = await begun(bridge, { settings: { ...AT_ONCE, rate: 5 } });
    await until(bridge, job.id, ({ counts }) => counts.succeeded > 2);
    isFull = true;
    await clock.advance(5_000);
    const { arrived } = hub.channel("out");
    await clock.advance(70_000);
    expect(hub.channel("out").arrived).toBe(arrived);
    isFull = false;
    const halted = await until(bridge, job.id, "halted");
    expect(halted.halted).toMatchObject({ why: "store", error: "the disk is full" });
    expect(halted.counts.succeeded).toBe(arrived);
    await supervisor.shutdown();
  });
});
