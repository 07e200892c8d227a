import type { OutboxStore } from "@bridge/ports";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Forgetting } from "../src/forget.ts";
import type { OutboxParts } from "../src/outbox-parts.ts";
import { HandClock } from "@bridge/conformance";
import { makeTables, openOn, type TestTables } from "./support/outbox.ts";
import { claimAll, done, idsOf, recordOf, recordsOf } from "./support/records.ts";

const NOW = 1_767_225_600_000;
const HOUR_MS = 3_600_000;
const LOAN_MS = 60_000;
/** As one's own clock may be the faster one by that much, a hold of another's lasts so much longer. */
const DRIFT = 1.011;
const signal = new AbortController().signal;

describe.skipIf(noPostgres)("instances whose clocks have nothing in common", () => {
  let tables: TestTables;
  beforeAll(async () => void (tables = await makeTables()));
  afterAll(() => tables[Symbol.asyncDispose]());

  /** Handles of two machines, whose times of day are as far apart as said; the other one starts when it is asked for. */
  async function machines(apartMs: number) {
    await tables.empty();
    const clocks = [new HandClock(5_000, NOW), new HandClock(900_000_000, NOW + apartMs)] as const;
    const one = await openOn(tables.connection, { clock: clocks[0] });
    const open = () => openOn(tables.connection, { clock: clocks[1] });
    const pass = (ms: number): void => {
      for (const clock of clocks) clock.pass(ms);
    };
    return { one, open, clocks, pass };
  }

  test.each([-HOUR_MS, 0, HOUR_MS])(
    "a loan is another's when its own clock must be over it, with times of day %i ms apart",
    async (apartMs) => {
      const { one, open, pass } = await machines(apartMs);
      await one.persist([recordOf("a")], signal);
      const [held] = await claimAll(one, signal, 1, LOAN_MS);
      pass(10 * LOAN_MS);
      // Of the clock is known only what was written down before.
      await using other = await open();
      expect(await claimAll(other, signal)).toEqual([]);
      pass(LOAN_MS - 1);
      expect(await claimAll(other, signal)).toEqual([]);
      pass(LOAN_MS * (DRIFT - 1));
      const [taken] = await claimAll(other, signal);
      expect(taken?.record.id).toBe("record-a");
      expect(await one.finish(held === undefined ? [] : [done(held)], signal)).toEqual([false]);
      expect(await other.finish(taken === undefined ? [] : [done(taken)], signal)).toEqual([true]);
      await one[Symbol.asyncDispose]();
    },
  );

  test("an operator elsewhere does not get what is lent, until that is over", async () => {
    const { one, open, pass } = await machines(HOUR_MS);
    await one.persist([recordOf("a")], signal);
    await claimAll(one, signal, 1, LOAN_MS);
    await using other = await open();
    expect(await other.claimOne("record-a", LOAN_MS, signal)).toBeUndefined();
    expect((await other.list({}, { limit: 1, offset: 0 }, signal))[0]?.lent).toBe(true);
    pass(LOAN_MS * DRIFT);
    expect((await other.list({}, { limit: 1, offset: 0 }, signal))[0]?.lent).toBe(false);
    expect((await other.claimOne("record-a", LOAN_MS, signal))?.record.id).toBe("record-a");
    await one[Symbol.asyncDispose]();
  });

  test.each([
    ["behind", -HOUR_MS, 5_000 * DRIFT],
    ["right", 0, 5_000],
  ])("a retry waits at another for no longer than its time, whose time of day is %s", async (_, apartMs, waitMs) => {
    const { one, open, pass } = await machines(apartMs);
    await one.persist([recordOf("a")], signal);
    const [claim] = await claimAll(one, signal);
    const outcome = { kind: "retry", delayMs: 5_000, attempts: 2 } as const;
    await one.finish([{ id: "record-a", token: claim?.token ?? "", outcome }], signal);
    await using other = await open();
    expect(await claimAll(other, signal)).toEqual([]);
    pass(4_999);
    expect(await claimAll(other, signal)).toEqual([]);
    pass(waitMs - 4_999);
    expect((await claimAll(other, signal))[0]).toMatchObject({ attempts: 2 });
    await one[Symbol.asyncDispose]();
  });

  test("what was lent to nobody when its instance ended is taken at once, in the order of its keys", async () => {
    const { one, open } = await machines(-HOUR_MS);
    const records = recordsOf(20, (i) => `key-${i % 2}`);
    for (const record of records) await one.persist([record], signal);
    await one[Symbol.asyncDispose]();
    await using other = await open();
    expect(idsOf(await claimAll(other, signal))).toEqual(records.map(({ id }) => id));
  });

  test("the order of a key is that of the table, whatever the clocks of those who persist say", async () => {
    const { one, open, clocks } = await machines(-HOUR_MS);
    await using other = await open();
    const ids: string[] = [];
    for (let i = 0; i < 10; i++) {
      await (i % 2 === 0 ? one : other).persist([recordOf(`${i}`, { orderingKey: "key" })], signal);
      ids.push(`record-${i}`);
    }
    await using third = await openOn(tables.connection, { clock: clocks[0] });
    expect(idsOf(await claimAll(third, signal))).toEqual(ids);
    await one[Symbol.asyncDispose]();
  });

  /** As the store does it each hour. */
  async function forgetInstances(): Promise<void> {
    const { schema } = tables.connection;
    const client = {
      table: (name: string) => `${schema}.${name}`,
      query: async ({ text }: { readonly text: string }) => ({ rows: await tables.schema.rows(text), count: 0 }),
    };
    await new Forgetting({ client } as unknown as OutboxParts).instances(signal);
  }

  const names = () => tables.schema.rows(`SELECT name FROM ${tables.connection.schema}.outbox_instance`);

  test("the clock of an instance that is gone is forgotten when nothing is measured by it any more", async () => {
    const { one, open, pass } = await machines(0);
    await one.persist([recordOf("a")], signal);
    await claimAll(one, signal, 1, LOAN_MS);
    await one[Symbol.asyncDispose]();
    await tables.schema.rows(`UPDATE ${tables.connection.schema}.outbox_instance SET beat_at = now() - interval '2 h'`);
    await forgetInstances();
    expect(await names()).toHaveLength(1);
    await using other: OutboxStore = await open();
    expect(await claimAll(other, signal)).toEqual([]);
    pass(LOAN_MS * DRIFT);
    const claims = await claimAll(other, signal);
    await forgetInstances();
    expect(await names()).toHaveLength(1);
    expect(await other.finish(claims.map(done), signal)).toEqual([true]);
  });

  test("what is held by a clock that nobody knows any more is free after a time, and not before", async () => {
    const { one, open } = await machines(0);
    await one.persist([recordOf("a")], signal);
    await claimAll(one, signal, 1, LOAN_MS);
    await one[Symbol.asyncDispose]();
    await tables.schema.rows(`DELETE FROM ${tables.connection.schema}.outbox_instance`);
    await using other = await open();
    expect(await claimAll(other, signal)).toEqual([]);
    await forgetInstances();
    expect(idsOf(await claimAll(other, signal))).toEqual(["record-a"]);
  });
});
