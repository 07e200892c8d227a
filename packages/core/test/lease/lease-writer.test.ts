import { openMemoryLeases } from "@bridge/memory";
import type { LeaseRecord, LeaseStore } from "@bridge/ports";
import { expect, test } from "vitest";
import { LeaseWriter } from "../../src/lease/lease-writer.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";

const OURS: LeaseRecord = { holder: "ours", token: 3, beat: 7, ttlMs: 20_000 };
const BOUND_MS = 5_000;
const never = new AbortController().signal;

function writerTo(changes: (store: LeaseStore) => Partial<LeaseStore> = () => ({})) {
  const clock = new FakeClock();
  const inner = openMemoryLeases({ name: crypto.randomUUID() });
  const store: LeaseStore = {
    read: (key, signal) => inner.read(key, signal),
    replace: (key, expected, next, signal) => inner.replace(key, expected, next, signal),
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
    ...changes(inner),
  };
  return { clock, inner, writer: new LeaseWriter({ key: "k", clock, store: () => store }) };
}

/** The store takes what is written, and its answer gets lost. */
const answerLost = (inner: LeaseStore): Partial<LeaseStore> => ({
  async replace(key, expected, next, signal) {
    await inner.replace(key, expected, next, signal);
    throw new Error("connection lost");
  },
});

test("what was written although the answer got lost was written", async () => {
  const { writer, inner, clock } = writerTo(answerLost);
  expect(await writer.write(undefined, OURS, BOUND_MS, never)).toEqual({ made: true });
  expect(await inner.read("k", never)).toEqual(OURS);
  expect(clock.pending).toBe(0);
});

test.each([
  ["another's", { ...OURS, holder: "theirs" }],
  ["of another term", { ...OURS, token: 4 }],
  ["of another beat", { ...OURS, beat: 8 }],
])("what stands there and is %s is not what was to be written", async (_, there) => {
  const { writer, inner } = writerTo();
  await inner.replace("k", undefined, there, never);
  expect(await writer.write(undefined, OURS, BOUND_MS, never)).toEqual({ made: false, there });
});

test("a record that is gone is no answer to a renewal", async () => {
  const { writer } = writerTo();
  expect(await writer.write({ ...OURS, beat: 6 }, OURS, BOUND_MS, never)).toEqual({ made: false, there: undefined });
});

test("half of the bound is for the write, half for the question what has become of it", async () => {
  const mute: () => Partial<LeaseStore> = () => ({
    read: () => new Promise(() => {}),
    replace: () => new Promise(() => {}),
  });
  const { writer, clock } = writerTo(mute);
  let failure: unknown;
  void writer.write(undefined, OURS, BOUND_MS, never).catch((error: unknown) => (failure = error));
  await clock.advance(BOUND_MS - 1);
  expect(failure).toBeUndefined();
  await clock.advance(1);
  expect(failure).toMatchObject({ code: "TIMEOUT" });
  expect(clock.pending).toBe(0);
});

test("who gives up asks nothing more, and is told why", async () => {
  const asked: string[] = [];
  const { writer, clock } = writerTo(() => ({
    read: () => {
      asked.push("read");
      return Promise.resolve(undefined);
    },
    replace: () => {
      asked.push("replace");
      return new Promise(() => {});
    },
  }));
  const stop = new AbortController();
  const writing = writer.write(undefined, OURS, BOUND_MS, stop.signal);
  await turn();
  const why = new Error("the lease is given up");
  stop.abort(why);
  await expect(writing).rejects.toBe(why);
  expect([asked, clock.pending]).toEqual([["replace"], 0]);
});

test("without a store it is unavailable", async () => {
  const writer = new LeaseWriter({ key: "k", clock: new FakeClock(), store: () => undefined });
  await expect(writer.read(BOUND_MS, never)).rejects.toMatchObject({ code: "UNAVAILABLE" });
});
