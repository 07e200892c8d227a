import { SuiteClock } from "@bridge/conformance";
import type { OutboxStore } from "@bridge/ports";
import { expect, test } from "vitest";
import type { WindowLimits } from "../../src/outbox/window.ts";
import { end, outboxRecord, ROUTE } from "./support/records.ts";
import { openScratchOutbox } from "./support/scratch-outbox.ts";

const { signal } = new AbortController();
const CLAIM = { ...ROUTE, limit: 1_000, loanMs: 60_000 };
const SMALL: WindowLimits = { queueLength: 10, maxQueueLength: 1_000, chunk: 4, contentBytes: 3_000 };

async function persist(store: OutboxStore, count: number, orderingKey?: string): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, (_, i) => `r${i}`);
  for (const [i, id] of ids.entries()) {
    await store.persist([outboxRecord(id, { orderingKey, address: `address ${i}` }, i)], signal);
  }
  return ids;
}

test("what is not in memory is lent all the same, in order and whole", async () => {
  await using store = openScratchOutbox({ window: SMALL });
  const ids = await persist(store, 100);
  const first = await store.claim({ ...CLAIM, limit: 37 }, signal);
  const claims = [...first, ...(await store.claim(CLAIM, signal))];
  expect(claims.map(({ record }) => record.id)).toEqual(ids);
  for (const [i, { record }] of claims.entries()) {
    expect(record.address).toBe(`address ${i}`);
    expect(record.envelope.payload).toHaveLength(i);
  }
});

test("records that come in while others wait in the file stay behind them", async () => {
  await using store = openScratchOutbox({ window: SMALL });
  const ids = await persist(store, 30);
  const first = await store.claim({ ...CLAIM, limit: 12 }, signal);
  await store.persist([outboxRecord("late")], signal);
  const rest = await store.claim(CLAIM, signal);
  expect([...first, ...rest].map(({ record }) => record.id)).toEqual([...ids, "late"]);
});

test("a key whose records are partly in the file keeps its order", async () => {
  await using store = openScratchOutbox({ window: SMALL });
  const ids = await persist(store, 25, "key");
  const delivered: string[] = [];
  for (let tries = 0; delivered.length < ids.length; tries++) {
    const [claim, ...more] = await store.claim({ ...CLAIM, limit: 3 }, signal);
    const done = tries % 3 !== 0;
    if (done) delivered.push(claim!.record.id);
    await store.finish(
      [end(claim!, done ? { kind: "done" } : { kind: "retry", delayMs: 0, attempts: 1 })].concat(
        more.map((other) => end(other, { kind: "retry", delayMs: 0, attempts: 0 })),
      ),
      signal,
    );
  }
  expect(delivered).toEqual(ids);
});

test("a queue in which everything waits grows only so far; what is younger follows when it moves", async () => {
  const clock = new SuiteClock(1_000_000);
  await using store = openScratchOutbox({ window: { ...SMALL, maxQueueLength: 40 }, clock });
  await persist(store, 60, "stuck");
  await store.persist([outboxRecord("free")], signal);
  const head = await store.claimOne("r0", 1_000, signal);
  await store.finish([end(head!, { kind: "retry", delayMs: 5_000, attempts: 1 })], signal);
  expect(await store.claim(CLAIM, signal)).toEqual([]);
  expect((await store.backlog(signal))[0]).toMatchObject({ depth: 61, blockedKeys: 1 });
  await clock.pass(5_000);
  const lent: string[] = [];
  while (lent.length < 61) {
    const claims = await store.claim(CLAIM, signal);
    expect(claims.length).toBeGreaterThan(0);
    lent.push(...claims.map(({ record }) => record.id));
    await store.finish(
      claims.map((claim) => end(claim, { kind: "done" })),
      signal,
    );
  }
  expect(lent.at(-1)).toBe("free");
});

test("a look through a long queue in which everything waits lets others run in between", async () => {
  await using store = openScratchOutbox({ window: SMALL });
  await persist(store, 60, "stuck");
  const head = await store.claimOne("r0", 60_000, signal);
  const claiming = store.claim(CLAIM, signal).then(() => "claimed");
  const next = new Promise((resolve) => setImmediate(() => resolve("next turn")));
  expect(await Promise.race([claiming, next])).toBe("next turn");
  expect(await claiming).toBe("claimed");
  await store.finish([end(head!, { kind: "done" })], signal);
});

test("a loan that has lapsed may be ended until the record is lent again, in memory or not", async () => {
  const clock = new SuiteClock(1_000_000);
  await using store = openScratchOutbox({ window: SMALL, clock });
  await persist(store, 30);
  const lapsing = [await store.claimOne("r28", 1_000, signal), await store.claimOne("r29", 1_000, signal)];
  await clock.pass(1_000);
  const heads = await store.list({}, { limit: 2, offset: 28 }, signal);
  expect(heads.map(({ id, lent }) => ({ id, lent }))).toEqual([
    { id: "r28", lent: false },
    { id: "r29", lent: false },
  ]);
  const again = await store.claimOne("r29", 1_000, signal);
  const ends = lapsing.map((claim) => end(claim!, { kind: "done" }));
  expect(await store.finish(ends, signal)).toEqual([true, false]);
  expect(await store.finish([end(again!, { kind: "done" })], signal)).toEqual([true]);
  const rest = await store.claim(CLAIM, signal);
  expect(rest.map(({ record }) => record.id)).toEqual(Array.from({ length: 28 }, (_, i) => `r${i}`));
});

test("one claim lends only so many bytes", async () => {
  await using store = openScratchOutbox();
  const megabyte = 1024 * 1024;
  for (let i = 0; i < 12; i++) await store.persist([outboxRecord(`r${i}`, {}, megabyte)], signal);
  const first = await store.claim(CLAIM, signal);
  expect(first).toHaveLength(8);
  const heads = await store.list({}, { limit: 12, offset: 0 }, signal);
  expect(heads.filter(({ lent }) => lent).map(({ id }) => id)).toEqual(first.map(({ record }) => record.id));
  const second = await store.claim(CLAIM, signal);
  expect([...first, ...second].map(({ record }) => record.id)).toEqual(Array.from({ length: 12 }, (_, i) => `r${i}`));
});

test("finished records are forgotten after their retention, hundreds at a time, and their ids are free", async () => {
  const clock = new SuiteClock(1_000_000);
  await using store = openScratchOutbox({ clock, retentionMs: 120_000 });
  const ids = Array.from({ length: 1_300 }, (_, i) => `r${i}`);
  await store.persist(
    ids.map((id) => outboxRecord(id)),
    signal,
  );
  const claims = await store.claim({ ...CLAIM, limit: 1_299 }, signal);
  await store.finish(
    claims.map((claim) => end(claim, { kind: "done" })),
    signal,
  );
  await clock.pass(119_000);
  expect(await store.status("r0", signal)).toBe("done");
  // The sweep writes to a real disk, for which the clock of the test does not wait.
  while ((await store.status("r1298", signal)) !== undefined) await clock.pass(60_000);
  for (const id of ["r0", "r600"]) expect(await store.status(id, signal)).toBeUndefined();
  expect(await store.status("r1299", signal)).toBe("pending");
  expect(await store.persist([outboxRecord("r0")], signal)).toEqual([{ kind: "persisted" }]);
});
