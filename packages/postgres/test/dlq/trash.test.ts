import { deadLetter } from "@bridge/conformance";
import { type Clock, systemClock } from "@bridge/ports";
import { sealJob } from "@bridge/ports/internal";
import { noPostgres, testSchema, type TestSchema } from "@bridge/tooling/test-postgres";
import { PATIENCE } from "@bridge/tooling/patience";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { PostgresDlq } from "../../src/dlq/open-postgres-dlq.ts";
import { makeTables, openDlq, rowsOf } from "./support/dlq.ts";
import { farStore } from "./support/far-store.ts";

const { signal } = new AbortController();
const HOUR = 3_600_000;
const IDS = Array.from({ length: 20 }, (_, i) => `id-${i}`);
const later = (): number => Date.now() + HOUR;

describe.skipIf(noPostgres)("operators 1.5: the trash on PostgreSQL", () => {
  let schema: TestSchema;
  let one: PostgresDlq;
  let other: PostgresDlq;
  const table = (name: string): string => `${schema.connection.schema}.${name}`;
  const racer = (i: number): PostgresDlq => (i % 2 === 0 ? one : other);
  beforeAll(async () => {
    schema = await testSchema();
    await makeTables(schema.connection);
    [one, other] = await Promise.all([openDlq(schema.connection), openDlq(schema.connection)]);
  });
  /** As if the server's time had gone on. */
  const passed = (ms: number) => schema.rows(`UPDATE ${table("dead_letter_trash")} SET until = until - ${ms}`);
  beforeEach(() => schema.rows(`TRUNCATE ${table("dead_letters")}, ${table("dead_letter_trash")}`));
  afterAll(async () => {
    for (const part of [one, other, schema]) await part[Symbol.asyncDispose]();
  });

  test("of 20 that move, delete and bring back the same entries, one is told of each", async () => {
    await Promise.all(IDS.map((id) => one.put(deadLetter(id), signal)));
    const told = await Promise.all(
      IDS.map((_, i) => {
        const ids = i % 3 === 0 ? IDS : IDS.toReversed();
        return i < 15 ? racer(i).admin.trash.move(ids, "batch", later(), signal) : racer(i).admin.delete(ids, signal);
      }),
    );
    expect(told.flatMap((gone) => [...gone]).toSorted()).toEqual(IDS.toSorted());
    const moved = told.slice(0, 15).reduce((sum, { size }) => sum + size, 0);
    expect(await one.admin.trash.count(100, signal)).toBe(moved);
    const restored = await Promise.all(IDS.map((_, i) => racer(i).admin.trash.restore("batch", 3, signal)));
    expect(restored.reduce((sum, { restored: count }) => sum + count, 0)).toBe(moved);
    expect(await other.count(100, signal)).toBe(moved);
  });

  test("what somebody makes of the end of an entry in the trash is held against its job", async () => {
    const DAY = 24 * HOUR;
    const now = Date.now();
    const job = (id: string, since: number) => {
      const times = { undoUntil: now + HOUR - since, undoWithinMs: HOUR, endedAt: now - since };
      const beside = { id, revision: 1, state: "completed", createdAt: 1 };
      const document = sealJob(beside, JSON.stringify({ reason: '"undoUntil":1', ...times }));
      return one.jobs.put({ ...beside, document }, undefined, signal);
    };
    await job("in time", 0);
    await job("long over", 25 * HOUR + 60_000);
    await job("over", DAY);
    await Promise.all(IDS.map((id) => one.put(deadLetter(id), signal)));
    await job("changed", 0);
    await schema.rows(`UPDATE ${table("dead_letter_jobs")} SET document = regexp_replace(document, '[0-9]{13}', '1', 'g')
      WHERE id = 'changed'`);
    await job("for ever", -1e15);
    await one.admin.trash.move(["id-8"], "changed", later(), signal);
    await one.admin.trash.move(["id-9"], "for ever", later(), signal);
    await schema.rows(`UPDATE ${table("dead_letter_trash")} SET until = 5 WHERE id = 'id-9'`);
    const batches = ["in time", "long over", "over", "no job"];
    for (const [n, batch] of batches.entries())
      await one.admin.trash.move([`id-${n}`, `id-${n + 4}`], batch, later(), signal);
    await schema.rows(`UPDATE ${table("dead_letter_trash")} SET until = 5 WHERE id < 'id-4'`);
    await schema.rows(`UPDATE ${table("dead_letter_trash")} SET until = 9e15 WHERE id BETWEEN 'id-4' AND 'id-7'`);
    expect(await one.admin.trash.count(9, signal, "in time")).toBe(2);
    await using _ = await openDlq(schema.connection);
    const left = async () =>
      (await schema.rows(`SELECT id FROM ${table("dead_letter_trash")} ORDER BY id`)).map(
        (row) => (row as { id: string }).id,
      );
    await vi.waitFor(async () => expect(await left()).toEqual(["id-0", "id-4", "id-6", "id-7", "id-8"]), PATIENCE);
    expect(await one.admin.trash.restore("in time", 9, signal)).toEqual({ restored: 2, present: 0 });
  });

  test("moves and restores whose answers were lost are told, and count once", async () => {
    await using far = await farStore(schema.connection);
    await one.put(deadLetter("a"), signal);
    await one.put(deadLetter("b"), signal);
    const holds = (count: number) => async () => (await one.admin.trash.count(10, signal)) === count;
    const moving = () => far.store.admin.trash.move(["a", "b", "c"], "batch", later(), signal);
    expect(await far.losing(moving, holds(2))).toEqual(new Set(["a", "b"]));
    expect(await far.losing(() => far.store.admin.trash.restore("batch", 10, signal), holds(0))).toEqual({
      restored: 2,
      present: 0,
    });
    expect(await one.get("a", signal)).toEqual(deadLetter("a"));
  });

  test.each([
    ["dead_letter_trash", "moved to"],
    ["dead_letters", "brought back from"],
  ])("what a trigger of somebody else keeps out of %s is not %s the trash, and stays where it was", async (name) => {
    const { schema: place } = schema.connection;
    await one.put(deadLetter("a"), signal);
    if (name === "dead_letters") await one.admin.trash.move(["a"], "batch", later(), signal);
    await schema.rows(`CREATE FUNCTION ${place}.eat() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER eats BEFORE INSERT ON ${table(name)} FOR EACH ROW EXECUTE FUNCTION ${place}.eat()`);
    const call = () =>
      name === "dead_letters"
        ? one.admin.trash.restore("batch", 10, signal)
        : one.admin.trash.move(["a"], "batch", later(), signal);
    await expect(call()).rejects.toThrow("take away the trigger");
    await one.prove?.();
    expect(one.health?.().fault).toContain("take away the trigger");
    await schema.rows(`DROP FUNCTION ${place}.eat CASCADE`);
    await one.prove?.();
    expect(one.health?.().fault).toBeUndefined();
    expect(await call()).toEqual(name === "dead_letters" ? { restored: 1, present: 0 } : new Set(["a"]));
  });

  test("many are moved and brought back in chunks, also those that somebody has changed", async () => {
    await schema.rows(rowsOf(table("dead_letters"), { head: "'{'", marks: "'['" }, 2_500));
    const ids = Array.from({ length: 2_500 }, (_, i) => `id-${i + 1}`);
    expect((await one.admin.trash.move(ids, "batch", later(), signal)).size).toBe(2_500);
    expect([await one.count(1, signal), await one.admin.trash.count(5_000, signal)]).toEqual([0, 2_500]);
    expect(await one.admin.trash.restore("batch", 2_200, signal)).toEqual({ restored: 2_200, present: 0 });
    expect(await one.admin.trash.restore("batch", 2_200, signal)).toEqual({ restored: 300, present: 0 });
    expect(await one.count(5_000, signal)).toBe(2_500);
  });

  test("what is over its time is there for nobody, and erased within a minute", async () => {
    const waits: (() => void)[] = [];
    const clock: Clock = {
      ...systemClock,
      delay: (ms, end) => {
        if (ms !== 60_000) return systemClock.delay(ms, end);
        const { promise, resolve } = Promise.withResolvers<void>();
        waits.push(resolve);
        end.addEventListener("abort", () => resolve());
        return promise;
      },
    };
    await using store = await openDlq(schema.connection, { clock });
    await expect.poll(() => waits.length, { timeout: 20_000 }).toBe(1);
    await store.put(deadLetter("a"), signal);
    await store.put(deadLetter("b"), signal);
    await store.admin.trash.move(["a"], "batch", later(), signal);
    await store.admin.trash.move(["b"], "batch", later() + HOUR, signal);
    await passed(HOUR);
    expect(await store.admin.trash.count(10, signal)).toBe(1);
    expect(await store.admin.trash.restore("batch", 10, signal)).toEqual({ restored: 1, present: 0 });
    expect(await store.get("a", signal)).toBeUndefined();
    waits[0]?.();
    await expect.poll(() => waits.length, { timeout: 20_000 }).toBe(2);
    expect(await schema.rows(`SELECT 1 FROM ${table("dead_letter_trash")}`)).toEqual([]);
  });

  test.each([2 * HOUR, -2 * HOUR])(
    "operators 3.2: the time to undo goes by the server's clock, whatever that of an instance says (%s ms ahead)",
    async (ahead) => {
      await one.put(deadLetter("a"), signal);
      await one.put(deadLetter("b"), signal);
      await one.admin.trash.move(["a"], "batch", later(), signal);
      const clock: Clock = { ...systemClock, now: () => Date.now() + ahead };
      const left = () => schema.rows(`SELECT id FROM ${table("dead_letter_trash")}`);
      await using wrong = await openDlq(schema.connection, { clock });
      // It sweeps as it opens: what has been over since before that is gone then.
      await wrong.admin.trash.move(["b"], "gone", clock.now() - 1, signal);
      await using _ = await openDlq(schema.connection, { clock });
      await expect.poll(left, { timeout: 20_000 }).toEqual([{ id: "a" }]);
      expect(await wrong.admin.trash.count(10, signal)).toBe(1);
      expect(await wrong.admin.trash.restore("batch", 10, signal)).toEqual({ restored: 1, present: 0 });
      await wrong.admin.trash.move(["a"], "batch", clock.now() + HOUR, signal);
      await passed(HOUR - 60_000);
      expect(await one.admin.trash.count(10, signal)).toBe(1);
      await passed(60_000);
      expect(await one.admin.trash.count(10, signal)).toBe(0);
    },
  );
});
