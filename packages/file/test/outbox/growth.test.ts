import { SuiteClock } from "@bridge/conformance";
import type { OutboxStore } from "@bridge/ports";
import { expect, test } from "vitest";
import type { WindowLimits } from "../../src/outbox/window.ts";
import { end, outboxRecord, ROUTE } from "./support/records.ts";
import { openScratchOutbox, survivorOf } from "./support/scratch-outbox.ts";

const { signal } = new AbortController();
const CLAIM = { ...ROUTE, limit: 1_000, loanMs: 60_000 };
const RECORDS = 60;
const window: WindowLimits = { queueLength: 10, maxQueueLength: 42, chunk: 4, contentBytes: 3_000 };

/** An outbox whose records all wait behind the first of their key, which waits for a retry. */
async function stuck(clock = new SuiteClock(1_000_000)): Promise<OutboxStore> {
  const store = openScratchOutbox({ window, clock });
  const records = Array.from({ length: RECORDS }, (_, i) => outboxRecord(`r${i}`, { orderingKey: "stuck" }));
  await store.persist(records, signal);
  const head = await store.claimOne("r0", 1_000, signal);
  await store.finish([end(head!, { kind: "retry", delayMs: 600_000, attempts: 1 })], signal);
  return store;
}

/** How many of them are in memory: those that are only in the file do not count as blocked. */
async function inMemory(store: OutboxStore): Promise<number | undefined> {
  return (await store.blockedKeys?.({}, 10, signal))?.[0]?.depth;
}

test("new records enter memory until their queue is as long as they may make it", async () => {
  await using store = await stuck();
  expect(await inMemory(store)).toBe(10);
});

test("however often one claims what may not be sent yet, no more gets into memory than a queue may hold", async () => {
  await using store = await stuck();
  for (let times = 0; times < 4; times++) {
    expect(await store.claim(CLAIM, signal)).toEqual([]);
    expect(await inMemory(store)).toBe(42);
  }
});

test("a claim that has as many as it wants looks no further into the file", async () => {
  const clock = new SuiteClock(1_000_000);
  await using store = await stuck(clock);
  await clock.pass(600_000);
  const [head] = await store.claim({ ...CLAIM, limit: 1 }, signal);
  await store.finish([end(head!, { kind: "retry", delayMs: 600_000, attempts: 2 })], signal);
  expect(await inMemory(store)).toBe(10);
});

test.each([
  { when: "before it began", looked: 10 },
  { when: "on the way", looked: 14 },
])("a claim that is given up $when looks no further into the file", async ({ when, looked }) => {
  await using store = await stuck();
  const reason = new Error("given up");
  const given = new AbortController();
  if (when === "before it began") given.abort(reason);
  const claiming = store.claim(CLAIM, given.signal);
  given.abort(reason);
  await expect(claiming).rejects.toBe(reason);
  expect(await inMemory(store)).toBe(looked);
});

test("a claim that is given up when it has found some gives them back at once", async () => {
  await using store = openScratchOutbox({ window: { ...window, maxQueueLength: 1_000 } });
  const ids = Array.from({ length: RECORDS }, (_, i) => `r${i}`);
  await store.persist(
    ids.map((id) => outboxRecord(id)),
    signal,
  );
  const given = new AbortController();
  const claiming = store.claim(CLAIM, given.signal);
  given.abort(new Error("given up"));
  await expect(claiming).rejects.toThrow("given up");
  const heads = await store.list({}, { limit: RECORDS, offset: 0 }, signal);
  expect(heads.filter(({ lent }) => lent)).toEqual([]);
  expect((await store.claim(CLAIM, signal)).map(({ record }) => record.id)).toEqual(ids);
});

test("after a restart whoever looks at blocked keys and backlog gets the oldest into memory, once", async () => {
  const clock = new SuiteClock(1_000_000);
  for (const backlogFirst of [false, true]) {
    await using store = await survivorOf(await stuck(clock), { window, clock });
    if (backlogFirst) expect(await store.backlog(signal)).toMatchObject([{ depth: RECORDS, blockedKeys: 1 }]);
    for (let times = 0; times < 3; times++) {
      expect(await inMemory(store)).toBe(4);
      expect(await store.backlog(signal)).toMatchObject([{ depth: RECORDS, blockedKeys: 1 }]);
    }
  }
});
