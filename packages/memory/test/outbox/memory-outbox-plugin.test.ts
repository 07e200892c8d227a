import { SuiteClock } from "@bridge/conformance";
import { type OutboxRecord, type OutboxStore, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import * as v from "valibot";
import { expect, test } from "vitest";
import { memoryOutboxPlugin } from "../../src/outbox/memory-outbox-plugin.ts";
import { openMemoryOutbox } from "../../src/outbox/open-memory-outbox.ts";

const { signal } = new AbortController();

function record(id: string): OutboxRecord {
  const about = { sourceId: "s", subject: "t", contentType: "", correlationId: "c", headers: {}, receivedAt: 0 };
  const envelope = { ...about, id: `message-${id}`, payload: Uint8Array.of(1) };
  return { id, routeId: "r", bindingId: "b", address: "a", payloadDigest: "d", createdAt: 0, envelope };
}

async function deliver(store: OutboxStore, id: string): Promise<void> {
  const claim = await store.claimOne(id, 1_000, signal);
  await store.finish([{ id, token: claim?.token ?? "", outcome: { kind: "done" } }], signal);
}

test("spec 1.6: it builds only when its volatility is acknowledged", () => {
  const accepts = (options: object): boolean => v.is(memoryOutboxPlugin.options, options);
  expect(accepts({ acknowledge_volatile: true })).toBe(true);
  expect(accepts({})).toBe(false);
  expect(accepts({ acknowledge_volatile: false })).toBe(false);
  expect(accepts({ acknowledge_volatile: "true" })).toBe(false);
});

test("max_records is a positive integer, retention a duration, and other options are refused", () => {
  const accepts = (more: object): boolean => v.is(memoryOutboxPlugin.options, { acknowledge_volatile: true, ...more });
  expect(accepts({ max_records: 1, retention: "30s" })).toBe(true);
  for (const max_records of [0, -1, 1.5, "10"]) expect(accepts({ max_records })).toBe(false);
  for (const retention of [30, "-1s", "soon"]) expect(accepts({ retention })).toBe(false);
  expect(accepts({ path: "outbox.db" })).toBe(false);
});

test("the plugin opens an outbox of the configured size, and a full one refuses the whole call", async () => {
  const open = memoryOutboxPlugin.create(
    v.parse(memoryOutboxPlugin.options, { acknowledge_volatile: true, max_records: 3 }),
    { id: "outbox", clock: systemClock, random: systemRandom(), logger: silentLogger },
  );
  await using store = await open(signal);
  await store.persist([record("a"), record("b")], signal);
  const refused = store.persist([record("c"), record("d")], signal);
  await expect(refused).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await expect(refused).rejects.toThrow(/full.*max_records 3/);
  expect((await store.list({}, { limit: 10, offset: 0 }, signal)).map(({ id }) => id)).toEqual(["a", "b"]);
  const repeats = await store.persist([record("a"), record("c"), record("c")], signal);
  expect(repeats.map(({ kind }) => kind)).toEqual(["duplicate", "persisted", "duplicate"]);
});

test("finished records make room for new ones, oldest first, and what is a repeat of them in that call is told", async () => {
  const clock = new SuiteClock(0);
  await using store = openMemoryOutbox({ maxRecords: 3, retentionMs: 60_000, clock, random: systemRandom() });
  await store.persist([record("a"), record("b"), record("c")], signal);
  for (const id of ["b", "a"]) await deliver(store, id);
  expect(await store.persist([record("d"), record("b")], signal)).toEqual([
    { kind: "persisted" },
    { kind: "duplicate", id: "b", status: "done" },
  ]);
  expect(await Promise.all(["a", "b", "c", "d"].map((id) => store.status(id, signal)))).toEqual([
    "done",
    undefined,
    "pending",
    "pending",
  ]);
});

test("a disposed outbox leaves no timer behind", async () => {
  const clock = new SuiteClock(0);
  let ticking = 0;
  const every = (ms: number, tick: () => void): Disposable => {
    const timer = clock.every(ms, tick);
    ticking++;
    return {
      [Symbol.dispose]() {
        ticking--;
        timer[Symbol.dispose]();
      },
    };
  };
  const watched = { ...systemClock, now: () => 0, monotonic: () => 0, every };
  const store = openMemoryOutbox({ maxRecords: 1, retentionMs: 1, clock: watched, random: systemRandom() });
  expect(ticking).toBe(1);
  await store[Symbol.asyncDispose]();
  expect(ticking).toBe(0);
});
