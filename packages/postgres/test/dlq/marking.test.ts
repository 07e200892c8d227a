import { deadLetter } from "@bridge/conformance";
import type { MarkChange } from "@bridge/ports";
import { noPostgres, testSchema, type TestSchema } from "@bridge/tooling/test-postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { PostgresDlq } from "../../src/dlq/open-postgres-dlq.ts";
import { makeTables, openDlq } from "./support/dlq.ts";
import { farStore } from "./support/far-store.ts";

const { signal } = new AbortController();
const REDRIVEN = { redriven: { lastAt: 7, lastCode: "TIMEOUT", lastError: "late" } } as const satisfies MarkChange;

describe.skipIf(noPostgres)("operators 1.4: marks on PostgreSQL", () => {
  let schema: TestSchema;
  let one: PostgresDlq;
  let other: PostgresDlq;
  const entries = (): string => `${schema.connection.schema}.dead_letters`;
  const marksOf = async (id: string) => (await one.get(id, signal))?.marks;
  beforeAll(async () => {
    schema = await testSchema();
    await makeTables(schema.connection);
    [one, other] = await Promise.all([openDlq(schema.connection), openDlq(schema.connection)]);
  });
  beforeEach(async () => {
    await schema.rows(`TRUNCATE ${entries()}`);
    for (const id of ["a", "b"]) await one.put(deadLetter(id), signal);
  });
  afterAll(async () => {
    for (const part of [one, other, schema]) await part[Symbol.asyncDispose]();
  });

  test("of 20 writers who mark the same entries at once, each counts once", async () => {
    const racers = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? one : other));
    const told = await Promise.all(
      racers.map((store, i) => {
        const ids = i % 3 === 0 ? ["a", "b", "unknown"] : ["b", "a"];
        const note = { at: i, by: "racer", text: `note ${i}` };
        return store.marks.mark(new Map(ids.map((id) => [id, { ...REDRIVEN, note }])), signal);
      }),
    );
    expect(told).toEqual(racers.map(() => new Set(["a", "b"])));
    for (const id of ["a", "b"]) {
      const marks = await marksOf(id);
      expect(marks?.redrives?.count).toBe(20);
      expect(new Set(marks?.notes?.map(({ at }) => at)).size).toBe(20);
    }
  });

  test("whose answer was lost are told, and count once", async () => {
    await using far = await farStore(schema.connection);
    const isMarked = async () => (await marksOf("a"))?.redrives !== undefined;
    const changes = new Map(["a", "b", "unknown"].map((id) => [id, REDRIVEN]));
    expect(await far.losing(() => far.store.marks.mark(changes, signal), isMarked)).toEqual(new Set(["a", "b"]));
    expect([(await marksOf("a"))?.redrives?.count, (await marksOf("b"))?.redrives?.count]).toEqual([1, 1]);
  });

  test("are of the entry, not of its id", async () => {
    await one.marks.mark(new Map([["a", { quarantined: true }]]), signal);
    await one.put(deadLetter("a"), signal);
    expect(await marksOf("a")).toEqual({ quarantined: true });
    await one.admin.delete(["a"], signal);
    await one.put(deadLetter("a", { marks: { assignee: "nobody" } }), signal);
    expect(await marksOf("a")).toBeUndefined();
  });

  test.each(["{", "[]", "null", '"text"', '{"notes":1}', '{"redrives":{}}'])(
    "that somebody has changed to %s are none, hide nothing, and are made anew",
    async (text) => {
      await schema.rows(`UPDATE ${entries()} SET marks = $1 WHERE id = 'a'`, [text]);
      expect(await one.list({}, { limit: 10, offset: 0 }, signal)).toHaveLength(2);
      expect(await one.get("a", signal)).toEqual(deadLetter("a"));
      expect(await one.marks.mark(new Map([["a", { assignee: "alice" }]]), signal)).toEqual(new Set(["a"]));
      expect(await one.get("a", signal)).toEqual({ ...deadLetter("a"), marks: { assignee: "alice" } });
    },
  );

  test("hold what the server's texts cannot, and none is of an id that it cannot hold", async () => {
    const note = { at: 1, by: "\u0000", text: "\ud800" };
    await one.marks.mark(new Map([["a", { note, assignee: "\u0000" }]]), signal);
    expect(await marksOf("a")).toEqual({ assignee: "\u0000", notes: [note] });
    expect(await one.marks.mark(new Map([["\u0000", { note }]]), signal)).toEqual(new Set());
  });

  test("that a trigger of somebody else keeps from being written are not confirmed", async () => {
    const name = schema.connection.schema;
    await schema.rows(`CREATE FUNCTION ${name}.keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER keeps BEFORE UPDATE ON ${entries()} FOR EACH ROW EXECUTE FUNCTION ${name}.keep()`);
    await expect(one.marks.mark(new Map([["a", REDRIVEN]]), signal)).rejects.toThrow("take away the trigger");
    await one.prove?.();
    expect(one.health?.().fault).toContain("take away the trigger");
    await schema.rows(`DROP FUNCTION ${name}.keep CASCADE`);
    await one.prove?.();
    expect(one.health?.().fault).toBeUndefined();
  });
});
