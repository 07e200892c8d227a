import type { StoredJob } from "@bridge/ports";
import { noPostgres, testSchema, type TestSchema } from "@bridge/tooling/test-postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { PostgresDlq } from "../../src/dlq/open-postgres-dlq.ts";
import { makeTables, openDlq } from "./support/dlq.ts";
import { farStore } from "./support/far-store.ts";

const { signal } = new AbortController();
const JOB: StoredJob = {
  id: "job-1",
  revision: 1,
  state: "planned",
  createdAt: 1_767_225_600_000,
  document: '{"a":"\\u0000"}',
};

describe.skipIf(noPostgres)("operators 1.5: jobs on PostgreSQL", () => {
  let schema: TestSchema;
  let one: PostgresDlq;
  let other: PostgresDlq;
  const jobs = (): string => `${schema.connection.schema}.dead_letter_jobs`;
  beforeAll(async () => {
    schema = await testSchema();
    await makeTables(schema.connection);
    [one, other] = await Promise.all([openDlq(schema.connection), openDlq(schema.connection)]);
  });
  beforeEach(() => schema.rows(`TRUNCATE ${jobs()}`));
  afterAll(async () => {
    for (const part of [one, other, schema]) await part[Symbol.asyncDispose]();
  });

  test.each([undefined, 1])(
    "of 20 writers who expect revision %s one is told that it has written",
    async (expected) => {
      if (expected !== undefined) await one.jobs.put(JOB, undefined, signal);
      const revision = (expected ?? 0) + 1;
      const told = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          (i % 2 === 0 ? one : other).jobs.put({ ...JOB, revision, document: String(i) }, expected, signal),
        ),
      );
      expect(told.filter((written) => written)).toHaveLength(1);
      expect(await one.jobs.get(JOB.id, signal)).toEqual({ ...JOB, revision, document: String(told.indexOf(true)) });
    },
  );

  test("a job whose answer was lost is told to be written, also when another has written since", async () => {
    await using far = await farStore(schema.connection);
    const revisionIs = (revision: number) => async () => {
      if ((await one.jobs.get(JOB.id, signal))?.revision !== revision) return false;
      return one.jobs.put({ ...JOB, revision: revision + 1, state: "paused" }, revision, signal);
    };
    expect(await far.losing(() => far.store.jobs.put(JOB, undefined, signal), revisionIs(1))).toBe(true);
    const third = { ...JOB, revision: 3 };
    expect(await far.losing(() => far.store.jobs.put(third, 2, signal), revisionIs(3))).toBe(true);
    expect(await one.jobs.get(JOB.id, signal)).toMatchObject({ revision: 4, state: "paused" });
    // One that was not written is not told so because of it.
    expect(await far.store.jobs.put(third, 2, signal)).toBe(false);
    expect(await far.store.jobs.put(JOB, undefined, signal)).toBe(false);
  });

  test("what no text of the server holds is no job", async () => {
    expect(await one.jobs.get("\u0000", signal)).toBeUndefined();
    await one.jobs.delete(["\u0000", "unknown"], signal);
  });

  test("one that a trigger of somebody else keeps from being written is not confirmed", async () => {
    const name = schema.connection.schema;
    await one.jobs.put(JOB, undefined, signal);
    await schema.rows(`CREATE FUNCTION ${name}.keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER keeps BEFORE INSERT OR UPDATE ON ${jobs()} FOR EACH ROW EXECUTE FUNCTION ${name}.keep()`);
    await expect(one.jobs.put({ ...JOB, revision: 2 }, 1, signal)).rejects.toThrow("take away the trigger");
    await expect(one.jobs.put({ ...JOB, id: "job-2" }, undefined, signal)).rejects.toThrow("take away the trigger");
    await one.prove?.();
    expect(one.health?.().fault).toContain("take away the trigger");
    await schema.rows(`DROP FUNCTION ${name}.keep CASCADE`);
    await one.prove?.();
    expect(one.health?.().fault).toBeUndefined();
    expect(await schema.rows(`SELECT id FROM ${jobs()}`)).toEqual([{ id: JOB.id }]);
  });

  test.each(
    ["revision", "created_at"].flatMap((column) =>
      ["9223372036854775807", "-9223372036854775808", "9007199254740993", "-9007199254740993"].map((value) => [
        column,
        value,
      ]),
    ),
  )(
    "a job whose %s somebody sets to %s is handed out as another than was written, in its place, and is written and goes as others do",
    async (column, value) => {
      for (const id of ["job-1", "job-2"]) await one.jobs.put({ ...JOB, id }, undefined, signal);
      await schema.rows(`UPDATE ${jobs()} SET ${column} = ${value} WHERE id = 'job-1'`);
      const listed = await one.jobs.list({ limit: 9 }, signal);
      expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(["job-1", "job-2"]));
      expect(listed.find(({ id }) => id === "job-2")).toEqual({ ...JOB, id: "job-2" });
      const damaged = await one.jobs.get("job-1", signal);
      expect(damaged).toMatchObject({ state: "planned" });
      expect(damaged).not.toEqual(JOB);
      if (damaged === undefined) throw new Error("the job is not there");
      const next = { ...damaged, revision: damaged.revision + 1, state: "undoing", document: "{}" };
      expect(await one.jobs.put(next, damaged.revision, signal)).toBe(true);
      expect(await other.jobs.put(next, damaged.revision, signal)).toBe(false);
      expect(await one.jobs.get("job-1", signal)).toEqual(next);
      expect(one.health?.().fault).toBeUndefined();
      await one.jobs.delete(["job-1"], signal);
      expect(await one.jobs.put(JOB, undefined, signal)).toBe(true);
    },
  );
});
