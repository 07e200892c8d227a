import { deadLetter } from "@bridge/conformance";
import { noPostgres, testSchema, type TestSchema } from "@bridge/tooling/test-postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeTables, openDlq, rowsOf } from "./support/dlq.ts";
import { farStore } from "./support/far-store.ts";

const { signal } = new AbortController();
const TWENTY = Array.from({ length: 20 }, (_, i) => i);

type Store = Awaited<ReturnType<typeof openDlq>>;

describe.skipIf(noPostgres)("of 20 instances", () => {
  let schema: TestSchema;
  let one: Store;
  let other: Store;
  const racer = (i: number): Store => (i % 2 === 0 ? one : other);
  const table = (name: string): string => `${schema.connection.schema}.${name}`;
  beforeAll(async () => {
    schema = await testSchema();
    await makeTables(schema.connection);
    [one, other] = await Promise.all([openDlq(schema.connection), openDlq(schema.connection)]);
  });
  beforeEach(() => schema.rows(`TRUNCATE ${table("dead_letters")}`));
  afterAll(async () => {
    for (const part of [one, other, schema]) await part[Symbol.asyncDispose]();
  });

  test("that write one id, all are told that it is stored, and one entry is, whole", async () => {
    const entries = TWENTY.map((i) =>
      deadLetter("a", {
        reason: `writer ${i}`,
        routeId: `r${i}`,
        envelope: { payload: new Uint8Array(5_000).fill(i) },
      }),
    );
    await Promise.all(entries.map((entry, i) => racer(i).put(entry, signal)));
    const kept = await one.get("a", signal);
    expect(kept).toEqual(entries.find(({ reason }) => reason === kept?.reason));
    expect(await other.list({}, { limit: 100, offset: 0 }, signal)).toHaveLength(1);
  });

  test("that delete the same entries, in any order, one is told of each", async () => {
    const ids = TWENTY.map((i) => `id-${i}`);
    await Promise.all(ids.map((id, i) => one.put(deadLetter(id, { failedAt: 100 - i }), signal)));
    const told = await Promise.all(
      TWENTY.map((i) => racer(i).admin.delete(i % 3 === 0 ? ids : ids.toReversed(), signal)),
    );
    expect(told.flatMap((gone) => [...gone]).toSorted()).toEqual(ids.toSorted());
  });

  test("that purge, each entry is counted once, in chunks", async () => {
    await schema.rows(rowsOf(table("dead_letters"), {}, 3_500));
    const counts = await Promise.all(
      TWENTY.map((i) => racer(i).admin.deleteWhere({ category: "permanent" }, i === 3 ? 1_200 : undefined, signal)),
    );
    expect(counts.reduce((sum, count) => sum + count)).toBe(3_500);
    expect(counts[3]).toBeLessThanOrEqual(1_200);
    expect(await other.count(1, signal)).toBe(0);
  });

  test("whose answers are lost, those whose statement deleted an entry are told so", async () => {
    await using far = await farStore(schema.connection);
    const losingAnswer = <T>(call: () => Promise<T>): Promise<T> =>
      far.losing(call, async () => (await one.count(1, signal)) === 0);
    await one.put(deadLetter("a"), signal);
    await one.put(deadLetter("b"), signal);
    expect(await losingAnswer(() => far.store.admin.delete(["a", "b", "c"], signal))).toEqual(new Set(["a", "b"]));
    await one.put(deadLetter("a"), signal);
    expect(await losingAnswer(() => far.store.admin.deleteWhere({}, undefined, signal))).toBe(1);
    for (const id of ["a", "b", "c"]) await one.put(deadLetter(id), signal);
    const two = far.losing(
      () => far.store.admin.deleteWhere({}, 2, signal),
      async () => (await one.count(9, signal)) === 1,
    );
    expect(await two).toBe(2);
    expect(await one.count(9, signal)).toBe(1);
    // Each note is forgotten with the next statement of its instance.
    await far.store.admin.delete(["none"], signal);
    await one.admin.delete(["none"], signal);
    await other.admin.delete(["none"], signal);
    expect(await schema.rows(`SELECT 1 FROM ${table("dead_letter_changes")}`)).toEqual([]);
  });
});
