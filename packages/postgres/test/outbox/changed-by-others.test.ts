import { BridgeError, type OutboxStore } from "@bridge/ports";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { describe, expect, test } from "vitest";
import { makeTables, openOn, type TestTables } from "./support/outbox.ts";
import { claimAll, done, idsOf, recordOf, recordsOf } from "./support/records.ts";

const { signal } = new AbortController();

describe.skipIf(noPostgres)("an outbox whose sequences somebody has set back", () => {
  test("holds that against itself and not against the message, and takes it when it can", async () => {
    await using tables = await makeTables();
    await using store = await openOn(tables.connection);
    await store.persist(recordsOf(5), signal);
    await tables.schema.rows(
      `SELECT setval(format('%I.%I', schemaname, sequencename), 1, false) FROM pg_sequences
       WHERE schemaname = '${tables.connection.schema}'`,
    );
    const late = recordOf("late");
    const met: string[] = [];
    for (let tries = 0; tries < 10 && met.at(-1) !== "persisted"; tries++) met.push(await persisted(store, late));
    expect(new Set(met.slice(0, -1))).toEqual(new Set(["UNAVAILABLE"]));
    expect(met.at(-1)).toBe("persisted");
    expect(idsOf(await claimAll(store, signal))).toContain(late.id);
  });
});

describe.skipIf(noPostgres)(
  "an outbox to whose tables somebody has put a trigger that keeps rows from being written",
  () => {
    test.each(["outbox_queue", "outbox_record"])(
      "on %s: nothing is confirmed, health says why, and it goes on without",
      async (table) => {
        await using tables = await makeTables();
        const { schema } = tables.connection;
        await using store = await openOn(tables.connection);
        await tables.schema.rows(
          `CREATE FUNCTION ${schema}.eat() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
       CREATE TRIGGER eats BEFORE INSERT ON ${schema}.${table} FOR EACH ROW EXECUTE FUNCTION ${schema}.eat()`,
        );
        const records = recordsOf(3);
        await expect(store.persist(records, signal)).rejects.toMatchObject({ code: "UNAVAILABLE" });
        await store.prove?.();
        expect(store.health?.().fault).toContain("kept nothing of what it took");
        await tables.schema.rows(`DROP TRIGGER eats ON ${schema}.${table}`);
        expect(await store.persist(records, signal)).toEqual(records.map(() => ({ kind: "persisted" })));
        await store.prove?.();
        expect(store.health?.().fault).toBeUndefined();
        expect(idsOf(await claimAll(store, signal)).toSorted()).toEqual(records.map(({ id }) => id).toSorted());
      },
    );
  },
);

/** A trigger that keeps rows of a table as they are. */
async function keepRows(
  { schema }: TestTables,
  on: "DELETE" | "UPDATE",
  table: string,
): Promise<() => Promise<unknown>> {
  const name = schema.connection.schema;
  await schema.rows(
    `CREATE FUNCTION ${name}.keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
     CREATE TRIGGER keeps BEFORE ${on} ON ${name}.${table} FOR EACH ROW EXECUTE FUNCTION ${name}.keep()`,
  );
  return () => schema.rows(`DROP TRIGGER keeps ON ${name}.${table}; DROP FUNCTION ${name}.keep()`);
}

describe.skipIf(noPostgres)("an outbox to whose tables somebody has put a trigger that keeps rows as they are", () => {
  const ended = { kind: "done" } as const;
  const again = { kind: "retry", delayMs: 0, attempts: 1 } as const;

  test.each([
    ["DELETE", "outbox_queue", ended],
    ["UPDATE", "outbox_record", ended],
    ["UPDATE", "outbox_queue", again],
  ] as const)(
    "on %s of %s: no end is taken for one of somebody else, and health says why",
    async (on, table, outcome) => {
      await using tables = await makeTables();
      await using store = await openOn(tables.connection);
      await store.persist(recordsOf(3), signal);
      const claims = await claimAll(store, signal);
      const ends = claims.map(({ record: { id }, token }) => ({ id, token, outcome }));
      const drop = await keepRows(tables, on, table);
      await expect(store.finish(ends, signal)).rejects.toMatchObject({
        code: "UNAVAILABLE",
        message: expect.stringContaining("take away the trigger") as string,
      });
      expect(store.health?.().fault).toContain("kept nothing of what it took");
      await drop();
      expect(await store.finish(ends, signal)).toEqual([true, true, true]);
      expect(await store.finish(ends, signal)).toEqual([false, false, false]);
    },
  );

  test("on UPDATE: nothing waits in silence, and it is lent without", async () => {
    await using tables = await makeTables();
    await using store = await openOn(tables.connection);
    await store.persist(recordsOf(3), signal);
    const drop = await keepRows(tables, "UPDATE", "outbox_queue");
    await expect(claimAll(store, signal)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(store.health?.().fault).toContain("kept nothing of what it took");
    await drop();
    expect(await claimAll(store, signal)).toHaveLength(3);
  });
});

describe.skipIf(noPostgres)("an outbox whose evidence somebody has deleted", () => {
  test.each(["here", "by another instance"])("delivers what was persisted %s, once", async (where) => {
    await using tables = await makeTables();
    await using store = await openOn(tables.connection);
    await using other = await openOn(tables.connection);
    await store.persist(
      recordsOf(4, (i) => (i < 2 ? "key" : undefined)),
      signal,
    );
    const [first, ...claims] = await claimAll(store, signal);
    await tables.schema.rows(`TRUNCATE ${tables.connection.schema}.outbox_record`);
    const lender = where === "here" ? store : other;
    // What is on loan is ended, and what comes back is lent again, to whoever asks.
    const retries = claims.map(({ record: { id }, token }) => ({
      id,
      token,
      outcome: { kind: "retry" as const, delayMs: 0, attempts: 1 },
    }));
    expect(await store.finish([...(first ? [done(first)] : []), ...retries], signal)).toEqual([true, true, true, true]);
    const lent = await claimAll(lender, signal);
    expect(idsOf(lent)).toEqual(idsOf(claims));
    expect(lent.map(({ record }) => record.envelope)).toEqual(claims.map(({ record }) => record.envelope));
    expect(await lender.finish(lent.map(done), signal)).toEqual([true, true, true]);
    expect(await store.backlog(signal)).toEqual([]);
  });

  test("or given to another record, ends all that is sent together with it", async () => {
    await using tables = await makeTables();
    await using store = await openOn(tables.connection);
    await store.persist(recordsOf(3), signal);
    const { schema } = tables.connection;
    await tables.schema.rows(`UPDATE ${schema}.outbox_record SET id = 'o-' || id WHERE id = 'record-0'`);
    const claims = await claimAll(store, signal);
    expect(await store.finish(claims.map(done), signal)).toEqual([true, true, true]);
    expect(store.health?.().fault).toBeUndefined();
    expect(await store.backlog(signal)).toEqual([]);
  });

  test("and the records too, no longer says that those wait", async () => {
    await using tables = await makeTables();
    await using store = await openOn(tables.connection);
    await store.persist(recordsOf(1), signal);
    await tables.schema.rows(`TRUNCATE ${tables.connection.schema}.outbox_queue`);
    expect(await store.status("record-0", signal)).toBeUndefined();
  });
});

test.skipIf(noPostgres)("an outbox to whose queue somebody has put a rule names the remedy", async () => {
  await using tables = await makeTables();
  await using store = await openOn(tables.connection);
  const { schema } = tables.connection;
  await tables.schema.rows(`CREATE RULE eats AS ON INSERT TO ${schema}.outbox_queue DO INSTEAD NOTHING`);
  await expect(store.persist(recordsOf(1), signal)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringContaining("take away the rule") as string,
  });
});

/** What the store says to it, or the code of the fault. */
async function persisted(store: OutboxStore, record: ReturnType<typeof recordOf>): Promise<string> {
  try {
    return (await store.persist([record], signal))[0]?.kind ?? "nothing";
  } catch (error) {
    return BridgeError.from(error).code;
  }
}
