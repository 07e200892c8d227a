import { openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryOutbox } from "@bridge/memory";
import {
  BridgeError,
  type DeadLetter,
  type DlqStore,
  type Logger,
  type OutboxStatus,
  type OutboxStore,
  type Processor,
  silentLogger,
  systemRandom,
} from "@bridge/ports";
import { expect, test } from "vitest";
import { envelopeOf } from "../support/envelope.ts";
import { BoundingClock } from "../support/bounding-clock.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, memoryBridge, type MemoryBridgeOptions, refusal } from "../support/memory-bridge.ts";

const message = { subject: "s", payload: new TextEncoder().encode("x"), id: "m1" };
const away = () => Promise.reject(new BridgeError("UNAVAILABLE", "away"));
const ENTRY: DeadLetter = {
  id: "e1",
  routeId: "r",
  bindingId: "out",
  sourceId: "in",
  correlationId: "c",
  subject: "s",
  reason: "refused",
  category: "rejected",
  errorCode: "REJECTED",
  lastError: "no",
  failedAt: 1,
  attempts: 1,
  envelope: envelopeOf({ id: "original" }),
};

async function started(options: MemoryBridgeOptions, changes: Partial<OutboxStore> = {}) {
  const { clock = new FakeClock() } = options;
  const memory = openMemoryOutbox({ maxRecords: 100, retentionMs: 3_600_000, clock, random: systemRandom() });
  const outbox = { ...memory, ...changes };
  const bridge = memoryBridge({ deliveryMode: "shared_outbox", clock, outbox, ...options });
  await bridge.supervisor.start(bound());
  return bridge;
}

const processing = (process: Processor["process"]): MemoryBridgeOptions => ({ processors: [{ process }] });

test.each([
  ["filtered", processing(async () => ({ kind: "filter", reason: "not for us" }))],
  ["dead_lettered", processing(() => Promise.reject(refusal))],
] as const)(
  "an inject that ends before the outbox is answered as %s, and names no binding",
  async (outcome, options) => {
    const { supervisor } = await started(options);
    const answer = await supervisor.inject("r", message, { signal: bound() });
    expect(answer).toMatchObject({ envelopeId: "m1", outcome, failedBindings: [] });
    expect(answer).not.toHaveProperty("warning");
    await supervisor.shutdown();
  },
);

/** What an inject is told of a record that is never lent here, and of which its store says `status`. */
async function answerFor(status: OutboxStatus | undefined, options: MemoryBridgeOptions = {}) {
  const changes = { shared: true, claim: async () => [], status: async () => status };
  const { supervisor } = await started(options, changes);
  try {
    return await supervisor.inject("r", message, { signal: bound() });
  } finally {
    await supervisor.shutdown();
  }
}

test("finding 7.2: what others have given up is answered as dead-lettered when no DLQ can say more", async () => {
  const dlq = { ...openMemoryDlq({ maxEntries: 10 }), get: away };
  const answer = { envelopeId: "m1", outcome: "dead_lettered", failedBindings: ["out"] };
  expect(await answerFor("dead", { dlq })).toEqual(answer);
});

test("of a record that its store has forgotten nobody knows what became of it", async () => {
  await expect(answerFor(undefined)).rejects.toMatchObject({ kind: "failed" });
});

test("while the outbox cannot say whether a dead letter is on its way already, it is not redriven, and kept", async () => {
  const { hub, supervisor, dlq } = await started({}, { redriving: away });
  await dlq.put(ENTRY, bound());
  expect(await supervisor.redrive(["e1"], bound())).toMatchObject({ redriven: 0, failed: 1 });
  expect(hub.channel("out").arrived).toBe(0);
  expect(await dlq.get("e1", bound())).toBeDefined();
  await supervisor.shutdown();
});

test("a dead letter over several legs is kept while the outbox does not say how each ended", async () => {
  const legs = ["out", "out2"];
  const { hub, clock, supervisor, dlq } = await started({ dispatchMode: "fan_out", bindings: legs }, { status: away });
  await dlq.put({ ...ENTRY, bindingId: "" }, bound());
  const holds = legs.map((id) => hub.channel(id).sends.hold());
  const stop = new AbortController();
  const redriven = supervisor.redrive(["e1"], stop.signal);
  await clock.until(() => legs.every((id) => hub.channel(id).sends.held === 1));
  stop.abort(new Error("60 s are over"));
  expect(await redriven).toMatchObject({ errors: [{ id: "e1", error: "redrive still pending in the outbox" }] });
  for (const hold of holds) hold[Symbol.dispose]();
  await clock.until(() => supervisor.stats().legs.every(({ inOutbox }) => inOutbox === 0));
  expect(legs.map((id) => hub.channel(id).arrived)).toEqual([1, 1]);
  expect(await dlq.get("e1", bound())).toBeDefined();
  await supervisor.shutdown();
});

test("a store that answers an end with nonsense is told of: the record's slot is free, and it is sent again when its loan has lapsed", async () => {
  const state = { broken: true };
  const clock = new FakeClock();
  const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random: systemRandom() });
  const finish: OutboxStore["finish"] = async (ends, signal) => (state.broken ? [] : memory.finish(ends, signal));
  const told: unknown[] = [];
  const logger: Logger = {
    ...silentLogger,
    child: () => logger,
    error: (_, fields) => void told.push(fields?.["error"]),
  };
  const { hub, supervisor } = await started({ clock, logger, policy: { maxInFlight: 1 } }, { ...memory, finish });
  for (const id of ["m1", "m2"]) hub.publish("in", { id });
  await clock.until(() => hub.channel("out").arrived === 2, 1_000);
  expect(told).toContain("the store gave fewer results than it was asked for");
  state.broken = false;
  await clock.until(() => supervisor.stats().legs[0]?.inOutbox === 0, 1_000);
  expect(supervisor.stats()).toMatchObject({ unaccounted: 0, legs: [{ dispositions: { delivered: 2 } }, {}] });
  await supervisor.shutdown();
});

const { admin: _admin, ...withoutAdmin } = openMemoryDlq({ maxEntries: 10 });

test.each([
  ["is not open", () => new Promise<never>(() => {})],
  ["cannot delete", async (): Promise<DlqStore> => withoutAdmin],
])("a record delivers its dead letter's message also when the DLQ %s; that the entry stays is told", async (_, dlq) => {
  const told: unknown[] = [];
  const logger: Logger = { ...silentLogger, child: () => logger, error: (_line, fields) => void told.push(fields) };
  const clock = new BoundingClock();
  const starting = started({ dlq, logger, clock });
  let begun = false;
  void starting.then(() => (begun = true));
  // A start waits for a DLQ only so long.
  await clock.until(() => begun, 1_000);
  const { hub, supervisor, outbox } = await starting;
  const envelope = envelopeOf({ id: "again", receivedAt: clock.now() });
  const record = { id: "x", routeId: "r", bindingId: "out", address: "out", payloadDigest: "", createdAt: clock.now() };
  await outbox.persist([{ ...record, envelope, entryId: "e1" }], bound());
  await clock.until(() => hub.channel("out").arrived === 1 && told.length > 0, 1_000);
  expect(told).toMatchObject([{ entry_id: "e1", error: "no DLQ store that can delete is open" }]);
  await supervisor.shutdown();
});
