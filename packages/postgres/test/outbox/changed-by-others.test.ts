import { BridgeError, type OutboxStore } from "@bridge/ports";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { describe, expect, test } from "vitest";
import { makeTables, openOn } from "./support/outbox.ts";
import { claimAll, idsOf, recordOf, recordsOf } from "./support/records.ts";

const signal = AbortSignal.timeout(60_000);

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

/** What the store says to it, or the code of the fault. */
async function persisted(store: OutboxStore, record: ReturnType<typeof recordOf>): Promise<string> {
  try {
    return (await store.persist([record], signal))[0]?.kind ?? "nothing";
  } catch (error) {
    return BridgeError.from(error).code;
  }
}
