import { deadLetter } from "@bridge/conformance";
import type { TellsHealth } from "@bridge/ports";
import { noPostgres, type TestSchema } from "@bridge/tooling/test-postgres";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ConnectionOptions } from "../../src/client/connection-options.ts";
import { makeTables as makeDlqTables, openDlq } from "../dlq/support/dlq.ts";
import { makeTables as makeLeaseTables, openLeases } from "../lease/support/leases.ts";
import { makeTables as makeOutboxTables, openOn, type TestTables } from "../outbox/support/outbox.ts";
import { claimAll, done, recordOf } from "../outbox/support/records.ts";

const signal = AbortSignal.timeout(120_000);

interface Opened extends AsyncDisposable, TellsHealth {
  /** Ends what the store holds, or goes on with it. */
  use(): Promise<unknown>;
}

async function outbox(connection: ConnectionOptions): Promise<Opened> {
  const store = await openOn(connection);
  await store.persist([recordOf("1")], signal);
  const claims = await claimAll(store, signal);
  return { ...store, use: () => store.finish(claims.map(done), signal) };
}

async function dlq(connection: ConnectionOptions): Promise<Opened> {
  const store = await openDlq(connection);
  await store.put(deadLetter("1"), signal);
  return { ...store, use: () => store.admin.delete(["1"], signal) };
}

async function lease(connection: ConnectionOptions): Promise<Opened> {
  const store = await openLeases(connection);
  const held = { holder: "a", token: 1, beat: 1, ttlMs: 20_000 };
  await store.replace("key", undefined, held, signal);
  return { ...store, use: () => store.replace("key", held, { ...held, beat: 2 }, signal) };
}

describe.skipIf(noPostgres)("a store whose rows a trigger of somebody else", () => {
  let tables: TestTables;
  let schema: TestSchema;
  beforeEach(async () => {
    tables = await makeOutboxTables();
    ({ schema } = tables);
    await makeDlqTables(schema.connection);
    await makeLeaseTables(schema.connection);
  });
  afterEach(() => tables[Symbol.asyncDispose]());

  test.each([
    { event: "DELETE", table: "outbox_queue", open: outbox },
    { event: "UPDATE", table: "outbox_record", open: outbox },
    { event: "DELETE", table: "dead_letters", open: dlq },
    { event: "UPDATE", table: "leases", open: lease },
  ])("keeps from $event of $table says so until it is gone, however often it looks", async ({ event, table, open }) => {
    const { schema: name } = schema.connection;
    await using store = await open(schema.connection);
    await schema.rows(`
      CREATE FUNCTION ${name}.keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
      CREATE TRIGGER keep BEFORE ${event} ON ${name}.${table} FOR EACH ROW EXECUTE FUNCTION ${name}.keep()`);
    await expect(store.use()).rejects.toThrow(/kept nothing of what it took/);
    for (let looks = 0; looks < 3; looks++) {
      await store.prove?.();
      expect(store.health?.().fault).toContain("kept nothing of what it took: take away the trigger");
    }
    await schema.rows(`DROP FUNCTION ${name}.keep CASCADE`);
    await store.prove?.();
    expect(store.health?.().fault).toBeUndefined();
    await store.use();
    expect(await schema.rows(`SELECT 1 FROM ${name}.outbox_record WHERE id = 'trial'`)).toEqual([]);
  });
});
