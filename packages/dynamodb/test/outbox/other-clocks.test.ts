import { testDynamo, type TestDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HandClock } from "@bridge/conformance";
import { makeTable, openOn } from "./support/outbox.ts";
import { claimAll, done, idsOf, recordOf } from "./support/records.ts";

const NOW = 1_767_225_600_000;
const HOUR_MS = 3_600_000;
const LOAN_MS = 60_000;
const signal = new AbortController().signal;
let dynamo: TestDynamo;

beforeAll(async () => void (dynamo = await testDynamo()));
afterAll(() => dynamo[Symbol.asyncDispose]());

/** Handles of two machines, whose times of day are as far apart as said. */
async function machines(apartMs: number) {
  const table = await makeTable(dynamo);
  const clocks = [new HandClock(5_000, NOW), new HandClock(900_000_000, NOW + apartMs)] as const;
  const [one, other] = [
    await openOn(dynamo, table, { clock: clocks[0] }),
    await openOn(dynamo, table, { clock: clocks[1] }),
  ];
  const pass = (ms: number): void => {
    for (const clock of clocks) clock.pass(ms);
  };
  return { one, other, clocks, pass, table };
}

test.each([-HOUR_MS, 0, HOUR_MS])(
  "a loan lapses when its taker has seen it unmoved for its length, with clocks %i ms apart",
  async (apartMs) => {
    const { one, other, pass } = await machines(apartMs);
    await one.persist([recordOf("a")], signal);
    const [held] = await claimAll(one, signal, 1, LOAN_MS);
    pass(10 * LOAN_MS);
    // Seen for the first time now, whenever it began.
    expect(await claimAll(other, signal)).toEqual([]);
    pass(LOAN_MS - 1);
    expect(await claimAll(other, signal)).toEqual([]);
    pass(1);
    const [taken] = await claimAll(other, signal);
    expect(taken?.record.id).toBe("record-a");
    expect(await one.finish(held === undefined ? [] : [done(held)], signal)).toEqual([false]);
    expect(await other.finish(taken === undefined ? [] : [done(taken)], signal)).toEqual([true]);
  },
);

test("a loan that is renewed by another claim is watched from then on", async () => {
  const { one, other, pass } = await machines(0);
  await one.persist([recordOf("a")], signal);
  await claimAll(one, signal, 1, LOAN_MS);
  expect(await claimAll(other, signal)).toEqual([]);
  pass(LOAN_MS);
  expect(idsOf(await claimAll(one, signal, 1, LOAN_MS))).toEqual(["record-a"]);
  expect(await claimAll(other, signal)).toEqual([]);
  pass(LOAN_MS - 1);
  expect(await claimAll(other, signal)).toEqual([]);
  pass(1);
  expect(idsOf(await claimAll(other, signal))).toEqual(["record-a"]);
});

test("a loan of a message that was persisted again is watched by itself, whenever one of its earlier record was seen", async () => {
  const { one, other, pass } = await machines(0);
  await one.persist([recordOf("a")], signal);
  const claims = await claimAll(one, signal, 1, LOAN_MS);
  expect(await claimAll(other, signal)).toEqual([]);
  await one.finish(claims.map(done), signal);
  pass(HOUR_MS);
  await one.persist([recordOf("a", { id: "record-b" })], signal);
  expect(idsOf(await claimAll(one, signal, 1, LOAN_MS))).toEqual(["record-b"]);
  expect(await claimAll(other, signal)).toEqual([]);
});

test("an operator elsewhere does not get what is lent, until that has been seen for its length", async () => {
  const { one, other, pass } = await machines(HOUR_MS);
  await one.persist([recordOf("a")], signal);
  await claimAll(one, signal, 1, LOAN_MS);
  expect(await other.claimOne("record-a", LOAN_MS, signal)).toBeUndefined();
  pass(LOAN_MS);
  expect((await other.claimOne("record-a", LOAN_MS, signal))?.record.id).toBe("record-a");
});

test("a retry that another clock measures waits at most its length more, and no hour because a clock is behind", async () => {
  const { one, other, pass } = await machines(-HOUR_MS);
  await one.persist([recordOf("a")], signal);
  const [claim] = await claimAll(one, signal);
  const outcome = { kind: "retry", delayMs: 5_000, attempts: 2 } as const;
  await one.finish([{ id: "record-a", token: claim?.token ?? "", outcome }], signal);
  expect(await claimAll(other, signal)).toEqual([]);
  pass(5_000);
  expect((await claimAll(other, signal))[0]).toMatchObject({ attempts: 2 });
});

test("records that were lent to nobody when their instance ended are taken at once, in the order of their keys", async () => {
  const { one, other } = await machines(-HOUR_MS);
  const records = Array.from({ length: 20 }, (_, i) => recordOf(`${i}`, { orderingKey: `key-${i % 2}` }));
  for (const record of records) await one.persist([record], signal);
  await one[Symbol.asyncDispose]();
  const ids = idsOf(await claimAll(other, signal));
  expect([...ids].toSorted()).toEqual(records.map(({ id }) => id).toSorted());
  for (const key of [0, 1]) {
    const own = records.filter((_, i) => i % 2 === key).map(({ id }) => id);
    expect(ids.filter((id) => own.includes(id))).toEqual(own);
  }
});

test("the order of a key is that of the table, whatever the clocks of those who persist say", async () => {
  const { one, other, clocks, table } = await machines(-HOUR_MS);
  const ids: string[] = [];
  for (let i = 0; i < 10; i++) {
    await (i % 2 === 0 ? one : other).persist([recordOf(`${i}`, { orderingKey: "key" })], signal);
    ids.push(`record-${i}`);
  }
  const third = await openOn(dynamo, table, { clock: clocks[0] });
  expect(idsOf(await claimAll(third, signal))).toEqual(ids);
});
