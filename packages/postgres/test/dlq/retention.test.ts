import { deadLetter, SuiteClock } from "@bridge/conformance";
import { type Clock, systemClock } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import { noPostgres, testSchema, type TestSchema } from "@bridge/tooling/test-postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeTables, openDlq } from "./support/dlq.ts";

const { signal } = new AbortController();
const NOW = 1_767_225_600_000;
const HOUR = 3_600_000;
const ALL = { limit: 100, offset: 0 };

describe.skipIf(noPostgres)("retention", () => {
  let schema: TestSchema;
  const stored = async (): Promise<readonly string[]> =>
    (await schema.rows<{ id: string }>(`SELECT id FROM ${schema.connection.schema}.dead_letters ORDER BY id`)).map(
      ({ id }) => id,
    );
  beforeAll(async () => {
    schema = await testSchema();
    await makeTables(schema.connection);
  });
  beforeEach(async () => {
    const { schema: name } = schema.connection;
    await schema.rows(`TRUNCATE ${name}.dead_letters, ${name}.dead_letter_changes`);
  });
  afterAll(() => schema[Symbol.asyncDispose]());

  test("what has expired is there for nobody, before it is removed", async () => {
    let now = NOW;
    await using store = await openDlq(schema.connection, {
      clock: { ...systemClock, now: () => now },
      retentionMs: HOUR,
    });
    await store.put(deadLetter("old", { failedAt: NOW }), signal);
    await store.put(deadLetter("new", { failedAt: NOW + 1 }), signal);
    const ids = async () => (await store.list({}, ALL, signal)).map(({ id }) => id);

    now = NOW + HOUR - 1;
    expect(await ids()).toEqual(["old", "new"]);

    now = NOW + HOUR;
    expect(await ids()).toEqual(["new"]);
    expect(await store.list({ since: 0, before: NOW + 1 }, ALL, signal)).toEqual([]);
    expect(await store.count(10, signal)).toBe(1);
    expect(await store.get("old", signal)).toBeUndefined();
    expect(await store.get("new", signal)).toBeDefined();
    expect(await store.admin.delete(["old"], signal)).toEqual(new Set());
    expect(await stored()).toEqual(["new", "old"]);
    await store.put(deadLetter("old", { failedAt: now, reason: "again" }), signal);
    expect((await store.get("old", signal))?.reason).toBe("again");
    expect(await store.admin.deleteWhere({}, undefined, signal)).toBe(2);
  });

  test("what has expired is removed within a minute, and nothing without retention", async () => {
    await using kept = await openDlq(schema.connection);
    await kept.put(deadLetter("old", { failedAt: NOW - HOUR }), signal);
    await kept.put(deadLetter("new", { failedAt: NOW }), signal);
    const time = new SuiteClock(NOW);
    const waits: number[] = [];
    const { promise: swept, resolve } = Promise.withResolvers<void>();
    const clock = {
      ...systemClock,
      now: () => time.now(),
      delay: (ms: number, end: AbortSignal) => {
        if (ms !== 60_000) return systemClock.delay(ms, end);
        if (waits.push(ms) === 2) resolve();
        return time.delay(ms, end);
      },
    };
    await using _ = await openDlq(schema.connection, { clock, retentionMs: HOUR });
    await swept;
    expect(await stored()).toEqual(["new"]);
    // Of the retention, and of the trash.
    expect(waits).toEqual([60_000, 60_000]);
    expect(await kept.count(10, signal)).toBe(1);
  });

  test("notes of changes that were left behind are forgotten at the start, and each hour, also without retention", async () => {
    const notes = `${schema.connection.schema}.dead_letter_changes`;
    const leave = (token: string, ago: string) =>
      schema.rows(`INSERT INTO ${notes} VALUES ($1, '{}', now() - $2::interval)`, [token, ago]);
    const left = async () =>
      (await schema.rows<{ token: string }>(`SELECT token FROM ${notes}`)).map(({ token }) => token);
    const hours: (() => void)[] = [];
    const clock: Clock = {
      ...systemClock,
      delay: (ms, end) => {
        if (ms !== HOUR) return systemClock.delay(ms, end);
        const { promise, resolve } = Promise.withResolvers<void>();
        hours.push(resolve);
        return orAborted(promise, end);
      },
    };
    await leave("before", "2 hours");
    await leave("young", "1 minute");
    await using _ = await openDlq(schema.connection, { clock });
    await expect.poll(() => hours.length, { timeout: 20_000 }).toBe(1);
    expect(await left()).toEqual(["young"]);
    await leave("meanwhile", "2 hours");
    hours[0]?.();
    await expect.poll(() => hours.length, { timeout: 20_000 }).toBe(2);
    expect(await left()).toEqual(["young"]);
  });
});
