import { HandClock } from "@bridge/conformance";
import type { OutboxStore } from "@bridge/ports";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeTables, openOn, type TestTables } from "./support/outbox.ts";
import { claimAll, done, idsOf, recordOf, recordsOf } from "./support/records.ts";
import { ServerTime } from "./support/server-time.ts";

const NOW = 1_767_225_600_000;
const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const LOAN_MS = 70_000;
const signal = new AbortController().signal;

describe.skipIf(noPostgres)("loans and waits go by the server's clock alone", () => {
  let tables: TestTables;
  let time: ServerTime;
  /** What passes at the server. */
  let clock: HandClock;
  let one: OutboxStore;
  let other: OutboxStore;
  beforeAll(async () => void (tables = await makeTables()));
  afterAll(() => tables[Symbol.asyncDispose]());
  beforeEach(async () => {
    await tables.empty();
    time = await ServerTime.of(tables.schema);
    clock = new HandClock(0, NOW);
    // Machines that have nothing in common.
    one = time.with(await openOn(tables.connection, { clock: new HandClock(5_000, NOW - HOUR_MS) }), clock);
    other = time.with(await openOn(tables.connection, { clock: new HandClock(900_000_000, NOW + HOUR_MS) }), clock);
  });
  afterEach(async () => void (await Promise.all([one, other].map((store) => store[Symbol.asyncDispose]()))));

  const retry = { kind: "retry", delayMs: 5_000, attempts: 2 } as const;

  async function lendOne(): Promise<ReturnType<typeof done>> {
    await one.persist([recordOf("a", { orderingKey: "key" }), recordOf("b", { orderingKey: "key" })], signal);
    const [claim] = await claimAll(one, signal, 1, LOAN_MS);
    if (claim === undefined) throw new Error("nothing was lent");
    return done(claim);
  }

  test("a loan of one machine is over for another in the millisecond in which it ends", async () => {
    const held = await lendOne();
    clock.pass(LOAN_MS - 1);
    expect(await claimAll(other, signal)).toEqual([]);
    expect(await other.claimOne("record-a", LOAN_MS, signal)).toBeUndefined();
    expect((await other.list({}, { limit: 1, offset: 0 }, signal))[0]?.lent).toBe(true);
    clock.pass(1);
    expect((await other.list({}, { limit: 1, offset: 0 }, signal))[0]?.lent).toBe(false);
    expect(idsOf(await claimAll(other, signal))).toEqual(["record-a", "record-b"]);
    expect(await one.finish([held], signal)).toEqual([false]);
  });

  test("an owner that stood still enters what nobody else has taken meanwhile", async () => {
    const held = await lendOne();
    clock.pass(10 * LOAN_MS);
    expect(await one.finish([held], signal)).toEqual([true]);
    expect(idsOf(await claimAll(other, signal))).toEqual(["record-b"]);
  });

  test("a wait for a retry is as long for another machine, and told by its own time of day", async () => {
    const { id, token } = await lendOne();
    await one.finish([{ id, token, outcome: retry }], signal);
    expect((await other.list({}, { limit: 1, offset: 0 }, signal))[0]?.dueAt).toBe(NOW + HOUR_MS + 5_000);
    clock.pass(4_999);
    expect(await claimAll(other, signal)).toEqual([]);
    clock.pass(1);
    expect((await claimAll(other, signal))[0]).toMatchObject({ record: { id: "record-a" }, attempts: 2 });
  });

  test.each([
    ["a loan", () => lendOne()],
    ["a wait", async () => lendOne().then(({ id, token }) => one.finish([{ id, token, outcome: retry }], signal))],
  ])("%s of before the server's clock was set back by an hour is over", async (_, hold) => {
    clock.pass(2 * HOUR_MS);
    await hold();
    time.jump(-HOUR_MS);
    expect(idsOf(await claimAll(other, signal))).toEqual(["record-a", "record-b"]);
  });

  test("a server's clock that is set back by seconds, as that of a standby that takes over, repeats nothing", async () => {
    clock.pass(HOUR_MS);
    await lendOne();
    time.jump(-50 * SECOND_MS);
    expect(await claimAll(other, signal)).toEqual([]);
    clock.pass(LOAN_MS + 50 * SECOND_MS - 1);
    expect(await claimAll(other, signal)).toEqual([]);
    clock.pass(1);
    expect(idsOf(await claimAll(other, signal))).toEqual(["record-a", "record-b"]);
  });

  test("a server's clock that is set forward lends again what is being sent, and one of both ends it", async () => {
    const held = await lendOne();
    time.jump(HOUR_MS);
    const taken = (await claimAll(other, signal)).map(done);
    expect(taken.map(({ id }) => id)).toEqual(["record-a", "record-b"]);
    expect(await one.finish([held], signal)).toEqual([false]);
    expect(await other.finish(taken, signal)).toEqual([true, true]);
  });

  test("what was lent to nobody when its instance ended is taken at once, in the order of its keys", async () => {
    const records = recordsOf(20, (i) => `key-${i % 2}`);
    for (const record of records) await one.persist([record], signal);
    await one[Symbol.asyncDispose]();
    expect(idsOf(await claimAll(other, signal))).toEqual(records.map(({ id }) => id));
  });

  test("the order of a key is that of the table, whatever the clocks of those who persist say", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 10; i++) {
      await (i % 2 === 0 ? one : other).persist([recordOf(`${i}`, { orderingKey: "key" })], signal);
      ids.push(`record-${i}`);
    }
    await using third = await openOn(tables.connection);
    expect(idsOf(await claimAll(third, signal))).toEqual(ids);
  });
});
