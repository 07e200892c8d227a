import { openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryOutbox } from "@bridge/memory";
import { type DeadLetter, type DlqStore, type OutboxStore, systemRandom } from "@bridge/ports";
import { times } from "@bridge/tooling/long";
import { memoryHub } from "@bridge/transport-memory";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RedrivenEntry } from "../../src/dlq/redrive-entry.ts";
import type { RedriveResult } from "../../src/dlq/redrive-result.ts";
import { OperationError } from "../../src/operation-error.ts";
import { envelopeOf } from "../support/envelope.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, memoryBridge, type MemoryBridgeOptions, outage, refusal } from "../support/memory-bridge.ts";

const GONE = "entry already redriven or concurrently deleted";

function entryOf(id: string, fields: Partial<DeadLetter> = {}): DeadLetter {
  return {
    id,
    routeId: "r",
    bindingId: "out",
    sourceId: "in",
    correlationId: "c",
    subject: id,
    reason: "refused",
    category: "rejected",
    errorCode: "REJECTED",
    lastError: "no",
    failedAt: 1,
    attempts: 1,
    envelope: envelopeOf({ id: `original-${id}`, subject: id }),
    ...fields,
  };
}

/** Two instances with one outbox and one DLQ, each of whose calls takes what `pauseMs` says. */
async function pair(pauseMs: () => number, options: MemoryBridgeOptions = {}) {
  const hub = memoryHub();
  const clock = new FakeClock();
  const inner = openMemoryOutbox({ maxRecords: 1_000, retentionMs: 3_600_000, clock, random: systemRandom() });
  const dlq = openMemoryDlq({ maxEntries: 1_000 });
  const { admin } = dlq;
  if (admin === undefined) throw new Error("the DLQ cannot delete");
  const after = async <T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> => {
    await clock.delay(pauseMs(), signal);
    const result = await run();
    await clock.delay(pauseMs(), signal);
    return result;
  };
  /** The envelopes that the outbox has taken: it sends no others. */
  const taken = new Set<string>();
  const persist: OutboxStore["persist"] = async (records, signal) => {
    const results = await inner.persist(records, signal);
    for (const [at, { envelope }] of records.entries()) if (results[at]?.kind === "persisted") taken.add(envelope.id);
    return results;
  };
  const outbox: OutboxStore = {
    ...inner,
    shared: true,
    persist: (records, signal) => after(signal, () => persist(records, signal)),
    finish: (ends, signal) => after(signal, () => inner.finish(ends, signal)),
    redriving: (id, signal) => after(signal, () => inner.redriving(id, signal)),
    status: (id, signal) => after(signal, () => inner.status(id, signal)),
    [Symbol.asyncDispose]: async () => {},
  };
  const slowDlq: DlqStore = {
    ...dlq,
    get: (id, signal) => after(signal, () => dlq.get(id, signal)),
    admin: { ...admin, delete: (ids, signal) => after(signal, () => admin.delete(ids, signal)) },
    [Symbol.asyncDispose]: async () => {},
  };
  const bridges = ["a", "b"].map((instanceId) =>
    memoryBridge({ ...options, instanceId, deliveryMode: "shared_outbox", hub, clock, outbox, dlq: slowDlq }),
  );
  for (const { supervisor } of bridges) await supervisor.start(bound());
  const redrive = (instance: number, ids: readonly string[]): Promise<RedriveResult> =>
    bridges[instance]?.supervisor.redrive(ids, bound()) ?? Promise.reject(new Error("there are two"));
  const redriveOne = (instance: number, id: string): Promise<RedrivenEntry> =>
    bridges[instance]?.supervisor.redriveEntry(id, {}, bound()) ?? Promise.reject(new Error("there are two"));
  const answers = async <Answer>(asked: readonly Promise<Answer>[]): Promise<readonly Answer[]> => {
    const state = { over: false };
    const all = Promise.all(asked).finally(() => (state.over = true));
    while (!state.over) await clock.advance(100);
    return all;
  };
  const shutdown = async (): Promise<void> => {
    for (const { supervisor } of bridges) await supervisor.shutdown();
  };
  return { hub, clock, dlq, inner, taken, redrive, redriveOne, answers, shutdown };
}

const IDS = ["e1", "e2", "e3"];

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("redrive" as const),
      instance: fc.nat(1),
      ids: fc.subarray(IDS, { minLength: 1 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("refuse" as const, "fail" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 3_000 }) }) },
);

describe("spec 4.6.10: two instances are asked to redrive the same entries of a shared outbox", () => {
  test("whatever overlaps, each is delivered once and counts once", async () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), pauses, async (steps, paused) => {
        let calls = 0;
        const { hub, clock, dlq, inner, redrive, answers, shutdown } = await pair(
          () => paused[calls++ % paused.length] ?? 0,
        );
        for (const id of IDS) await dlq.put(entryOf(id), bound());
        const asked: Promise<RedriveResult>[] = [];
        for (const given of steps) {
          if (given.do === "redrive") asked.push(redrive(given.instance, given.ids));
          else if (given.do === "wait") await clock.advance(given.ms);
          else hub.channel("out").sends.failNext(1, given.do === "refuse" ? refusal : outage);
        }
        // What is asked for last finds nothing that fails.
        await answers(asked);
        hub.channel("out").sends.clear();
        asked.push(redrive(0, IDS), redrive(1, IDS));
        const results = await answers(asked);

        const arrived = hub.channel("out").messages();
        expect(arrived.map(({ subject }) => subject).toSorted()).toEqual(IDS);
        expect(results.reduce((sum, { redriven }) => sum + redriven, 0)).toBe(IDS.length);
        expect(await inner.backlog(bound())).toEqual([]);
        for (const id of IDS) expect(await dlq.get(id, bound())).toBeUndefined();
        await shutdown();
      }),
      { numRuns: times(40, 400) },
    );
  }, 120_000);

  test("in the same moment: one sends it, the other says that it is gone", async () => {
    const { hub, dlq, redrive, answers, shutdown } = await pair(() => 5);
    await dlq.put(entryOf("e1"), bound());
    const results = await answers([redrive(0, ["e1"]), redrive(1, ["e1"])]);
    expect(hub.channel("out").arrived).toBe(1);
    expect(results.toSorted((a, b) => b.redriven - a.redriven)).toEqual([
      { redriven: 1, failed: 0, errors: [] },
      { redriven: 0, failed: 1, errors: [{ id: "e1", error: GONE }] },
    ]);
    await shutdown();
  });

  test("of a fan_out each binding gets it once", async () => {
    const fanOut = { dispatchMode: "fan_out", bindings: ["out", "out2"] } as const;
    const { hub, dlq, redrive, answers, shutdown } = await pair(() => 5, fanOut);
    await dlq.put(entryOf("e1", { bindingId: "" }), bound());
    const results = await answers([redrive(0, ["e1"]), redrive(1, ["e1"])]);
    expect([hub.channel("out").arrived, hub.channel("out2").arrived]).toEqual([1, 1]);
    expect(results.reduce((sum, { redriven }) => sum + redriven, 0)).toBe(1);
    expect(await dlq.get("e1", bound())).toBeUndefined();
    await shutdown();
  });

  test("one that fails leaves the entry to the next, however often", async () => {
    const { hub, dlq, redrive, answers, shutdown } = await pair(() => 5);
    await dlq.put(entryOf("e1"), bound());
    for (let i = 0; i < 3; i++) {
      hub.channel("out").sends.failNext(1, refusal);
      const results = await answers([redrive(0, ["e1"]), redrive(1, ["e1"])]);
      expect(results.map(({ redriven }) => redriven)).toEqual([0, 0]);
      for (const { errors } of results) expect(errors[0]?.error).toMatch(/^not delivered, dead_lettered/u);
    }
    expect(await answers([redrive(1, ["e1"])])).toEqual([{ redriven: 1, failed: 0, errors: [] }]);
    expect(hub.channel("out").arrived).toBe(1);
    await shutdown();
  });

  test("the same message, dead-lettered anew after its redrive was delivered, is redriven again", async () => {
    const { hub, dlq, redrive, answers, shutdown } = await pair(() => 5);
    for (const failedAt of [1, 2]) {
      await dlq.put(entryOf("e1", { failedAt }), bound());
      expect(await answers([redrive(0, ["e1"])])).toEqual([{ redriven: 1, failed: 0, errors: [] }]);
    }
    expect(hub.channel("out").arrived).toBe(2);
    await shutdown();
  });

  test("one that was delivered and could not be deleted is deleted by the next, which sends nothing", async () => {
    const { hub, dlq, redrive, answers, shutdown } = await pair(() => 5);
    await dlq.put(entryOf("e1"), bound());
    await answers([redrive(0, ["e1"])]);
    await dlq.put(entryOf("e1"), bound());
    expect(await answers([redrive(1, ["e1"])])).toEqual([{ redriven: 1, failed: 0, errors: [] }]);
    expect(hub.channel("out").arrived).toBe(1);
    expect(await dlq.get("e1", bound())).toBeUndefined();
    await shutdown();
  });
});

/** Who finds the redrive of the other one in the outbox sends nothing, and is told so. */
function unlessPending(error: unknown): undefined {
  if (!(error instanceof OperationError) || error.kind !== "pending") throw error;
}

/** The message that an answer names. */
function named(told: RedrivenEntry): string | undefined {
  if ("envelopeId" in told) return told.envelopeId;
  return "result" in told && told.result.unsent !== true ? told.result.envelopeId : undefined;
}

describe("spec 4.12.1: two instances are asked to redrive the same entry of a shared outbox by its id", () => {
  const fanOut = { dispatchMode: "fan_out", bindings: ["out", "out2"] } as const;

  test("whatever overlaps, an answer names no message that was not sent, and the one who sends it names it", async () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 20 });
    const faults = fc.array(fc.constantFrom(refusal, outage), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(pauses, faults, fc.nat(3), fc.boolean(), async (paused, failing, again, isFanOut) => {
        let calls = 0;
        const pause = (): number => paused[calls++ % paused.length] ?? 0;
        const { hub, dlq, taken, redriveOne, answers, shutdown } = await pair(pause, isFanOut ? fanOut : {});
        await dlq.put(entryOf("e1", isFanOut ? { bindingId: "" } : {}), bound());
        for (const fault of failing) hub.channel("out").sends.failNext(1, fault);
        const told: (RedrivenEntry | undefined)[] = [];
        for (let round = 0; round <= again; round++)
          told.push(...(await answers([0, 1].map((instance) => redriveOne(instance, "e1").catch(unlessPending)))));
        const names = told.map((each) => each && named(each)).filter((id) => id !== undefined);
        expect(names.filter((id) => !taken.has(id))).toEqual([]);
        expect([...taken].filter((id) => !names.includes(id))).toEqual([]);
        await shutdown();
      }),
      { numRuns: times(40, 400) },
    );
  }, 120_000);

  test("one that was delivered before and could not be deleted is deleted, and names no message", async () => {
    const { hub, dlq, redriveOne, answers, shutdown } = await pair(() => 5);
    for (let round = 0; round < 2; round++) {
      await dlq.put(entryOf("e1"), bound());
      const [told] = await answers([redriveOne(round, "e1")]);
      expect(told?.kind).toBe("redriven");
      expect(told && named(told)).toEqual(round === 0 ? hub.channel("out").messages()[0]?.id : undefined);
    }
    expect(hub.channel("out").arrived).toBe(1);
    await shutdown();
  });
});
