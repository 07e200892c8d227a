import { BridgeError, type DeadLetter, type DlqStore, type Logger, RESERVED, silentLogger } from "@bridge/ports";
import { openMemoryDlq } from "@bridge/dlq-memory";
import { describe, expect, test } from "vitest";
import { RouteAccount } from "../../src/accounting/accounts.ts";
import { DeadLetterWriter } from "../../src/dlq/dead-letter-writer.ts";
import { FailureLog } from "../../src/route/failure-log.ts";
import { StoreCalls } from "../../src/route/store-calls.ts";
import { envelopeOf } from "../support/envelope.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { noHooks } from "../support/no-hooks.ts";

const ENTRY: DeadLetter = {
  id: "e",
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
  envelope: envelopeOf({ id: "m" }),
};

function writerTo(dlq: DlqStore | undefined) {
  const told: string[] = [];
  const line = (level: string) => (message: string) => void told.push(`${level}: ${message}`);
  const logger: Logger = { ...silentLogger, info: line("info"), warn: line("warn"), error: line("error") };
  const clock = new FakeClock();
  const storeCalls = { dlq: new StoreCalls(clock), outbox: new StoreCalls(clock) };
  const account = new RouteAccount("r");
  const writer = new DeadLetterWriter({
    clock,
    dlq: () => dlq,
    account,
    logger,
    failureLog: new FailureLog(logger, clock),
    hooks: noHooks,
    storeCalls,
    tracer: undefined,
  });
  return { writer, account, told, clock, storeCalls };
}

test("a dead letter that is durable is told, and no failure", async () => {
  const store = openMemoryDlq({ maxEntries: 1 });
  const { writer, account, told } = writerTo(store);
  expect(await writer.write(ENTRY, bound())).toBeUndefined();
  expect(await store.get("e", bound())).toMatchObject({ id: "e", routeId: "r" });
  expect([account.dlqWriteFailures, told]).toEqual([0, ["warn: message dead-lettered"]]);
});

test("one that the store refuses, or for which none is open, is a failure that is counted and told", async () => {
  const refusing = { ...openMemoryDlq({ maxEntries: 1 }), put: () => Promise.reject(new Error("disk full")) };
  for (const [store, code, message] of [
    [refusing, "UNKNOWN", "disk full"],
    [undefined, "UNAVAILABLE", "no DLQ store is open"],
  ] as const) {
    const { writer, account, told } = writerTo(store);
    const error = await writer.write(ENTRY, bound());
    expect(error).toBeInstanceOf(BridgeError);
    expect(error).toMatchObject({ message: expect.stringContaining(message) as string });
    if (code !== "UNKNOWN") expect(error).toMatchObject({ code });
    expect([account.dlqWriteFailures, told]).toEqual([
      1,
      ["error: dead letter not written: the message is kept where it is and tried again"],
    ]);
  }
});

test("those that cannot be written are told at once, and then each minute with their number", async () => {
  const { writer, account, told, clock } = writerTo(undefined);
  for (let tries = 0; tries < 100; tries++) await writer.write(ENTRY, bound());
  expect([account.dlqWriteFailures, told.length]).toEqual([100, 1]);
  await clock.advance(60_000);
  expect(told).toHaveLength(2);
});

test("one that was given up is no failure: its message is kept where it is", async () => {
  const mute: DlqStore = { ...openMemoryDlq({ maxEntries: 1 }), put: () => new Promise(() => {}) };
  const { writer, account, told, clock, storeCalls } = writerTo(mute);
  const stop = new AbortController();
  const writing = writer.write(ENTRY, stop.signal);
  await turn();
  await clock.advance(700);
  expect(storeCalls.dlq.oldestMs).toBe(700);
  stop.abort(new Error("the route stops"));
  expect(await writing).toBeInstanceOf(BridgeError);
  expect([account.dlqWriteFailures, told, storeCalls.dlq.oldestMs]).toEqual([0, [], 0]);
});

describe("what a job has replayed", () => {
  const replay = { entryId: "original", jobId: "job-1", attempt: 2 };
  const original: DeadLetter = { ...ENTRY, id: "original", failedAt: 0 };
  const headers = { [RESERVED.job]: "job-1/2", [RESERVED.dedupId]: "d", device: "7" };
  const failed: DeadLetter = { ...ENTRY, envelope: envelopeOf({ id: "m", headers }) };
  const ids = async (store: DlqStore) => (await store.list({}, { limit: 10, offset: 0 }, bound())).map(({ id }) => id);

  test.each(["write", "mark"] as const)("is a mark on its dead letter, which is told: %s", async (call) => {
    const store = openMemoryDlq({ maxEntries: 10 });
    await store.put(original, bound());
    const { writer, account, told } = writerTo(store);
    expect(await writer[call](failed, bound(), replay)).toBeUndefined();
    const entry = await store.get("original", bound());
    expect(entry?.marks?.redrives).toMatchObject({ count: 1, lastCode: "REJECTED", jobId: "job-1", jobTry: 2 });
    expect([await ids(store), account.dlqWriteFailures]).toEqual([["original"], 0]);
    expect(told).toEqual(["info: redrive failed: the dead letter stays, with a mark"]);
  });

  test("is an entry of its own in a store that keeps no marks", async () => {
    const { marks: _, ...store } = openMemoryDlq({ maxEntries: 10 });
    const { writer, told } = writerTo(store);
    expect(await writer.write(failed, bound(), replay)).toBeUndefined();
    // It belongs to no job.
    expect((await store.get("e", bound()))?.envelope.headers).toEqual({ device: "7" });
    expect(told).toEqual(["warn: message dead-lettered"]);
  });

  test("is nothing when its dead letter is gone, which is told", async () => {
    const store = openMemoryDlq({ maxEntries: 10 });
    const { writer, account, told } = writerTo(store);
    expect(await writer.write(failed, bound(), replay)).toBe("gone");
    expect([await ids(store), account.dlqWriteFailures]).toEqual([[], 0]);
    expect(told).toEqual(["warn: redrive failed: the dead letter was deleted meanwhile, and nothing is written"]);
  });

  test("is nothing that a policy without dead letters keeps when its dead letter is gone", async () => {
    const store = openMemoryDlq({ maxEntries: 10 });
    const { writer, told } = writerTo(store);
    expect(await writer.mark(failed, bound(), replay)).toBeUndefined();
    expect([await ids(store), told]).toEqual([[], []]);
  });

  test("is a failure that is counted and told when the store takes no mark", async () => {
    const inner = openMemoryDlq({ maxEntries: 10 });
    const marks = { ...inner.marks, mark: () => Promise.reject(new BridgeError("UNAVAILABLE", "disk full")) };
    const { writer, account, told } = writerTo({ ...inner, marks });
    expect(await writer.mark(failed, bound(), replay)).toMatchObject({ code: "UNAVAILABLE", message: "disk full" });
    expect([account.dlqWriteFailures, told.length]).toEqual([1, 1]);
  });
});

test("a dead letter that no job has replayed keeps all of its headers, its deduplication key with them", async () => {
  const store = openMemoryDlq({ maxEntries: 1 });
  const headers = { [RESERVED.dedupId]: "d", device: "7" };
  await writerTo(store).writer.write({ ...ENTRY, envelope: envelopeOf({ headers }) }, bound());
  expect((await store.get("e", bound()))?.envelope.headers).toEqual(headers);
});
