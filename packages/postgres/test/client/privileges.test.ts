import { deadLetter } from "@bridge/conformance";
import type { LeaseStore, OutboxStore, TellsHealth } from "@bridge/ports";
import { noPostgres, type TestSchema } from "@bridge/tooling/test-postgres";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ConnectionOptions } from "../../src/client/connection-options.ts";
import { makeTables as makeDlqTables, openDlq } from "../dlq/support/dlq.ts";
import { makeTables as makeLeaseTables, openLeases } from "../lease/support/leases.ts";
import { makeTables as makeOutboxTables, openOn, type TestTables } from "../outbox/support/outbox.ts";
import { claimAll, done, recordOf } from "../outbox/support/records.ts";

const signal = AbortSignal.timeout(300_000);

interface Kind {
  readonly open: (connection: ConnectionOptions) => Promise<AsyncDisposable & TellsHealth>;
  /** Each object with all that the bridge does with it. */
  readonly needs: Readonly<Record<string, readonly string[]>>;
}

const ALL = ["SELECT", "INSERT", "UPDATE", "DELETE"];
const FUNCTIONS = ["persist", "finish", "claim", "claim_one", "now"].map((name) => `FUNCTION outbox_${name}`);
const KINDS: Readonly<Record<string, Kind>> = {
  outbox: {
    open: openOn,
    needs: {
      "TABLE outbox_record": ALL,
      "TABLE outbox_queue": ALL,
      "TABLE outbox_spoiled": ["INSERT"],
      "TABLE migrations": ["SELECT"],
      "SEQUENCE outbox_number": ["USAGE"],
      ...Object.fromEntries(FUNCTIONS.map((name) => [name, ["EXECUTE"]])),
    },
  },
  dlq: {
    open: openDlq,
    needs: {
      "TABLE dead_letters": ALL,
      "TABLE dead_letter_jobs": ALL,
      "TABLE dead_letter_trash": ALL,
      "TABLE dead_letter_changes": ["SELECT", "INSERT", "DELETE"],
      "TABLE migrations": ["SELECT"],
    },
  },
  lease: {
    open: openLeases,
    needs: { "TABLE leases": ["SELECT", "INSERT", "UPDATE"], "TABLE migrations": ["SELECT"] },
  },
};

describe.skipIf(noPostgres)("a store whose user", () => {
  let tables: TestTables;
  let schema: TestSchema;
  let name: string;
  let connection: ConnectionOptions;
  const nameOf = (object: string) => object.replace(" ", ` ${name}.`);

  beforeEach(async () => {
    tables = await makeOutboxTables();
    ({ schema } = tables);
    name = schema.connection.schema;
    await makeDlqTables(schema.connection);
    await makeLeaseTables(schema.connection);
    const url = new URL(schema.connection.url);
    url.username = name;
    connection = { ...schema.connection, url: url.href };
    await schema.rows(`CREATE ROLE ${name} LOGIN; GRANT USAGE ON SCHEMA ${name} TO ${name};
      REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA ${name} FROM PUBLIC`);
    for (const { needs } of Object.values(KINDS)) {
      for (const [object, privileges] of Object.entries(needs)) {
        await schema.rows(`GRANT ${privileges.join(", ")} ON ${nameOf(object)} TO ${name}`);
      }
    }
  });
  afterEach(async () => {
    await schema.rows(`DROP OWNED BY ${name}; DROP ROLE ${name}`);
    await tables[Symbol.asyncDispose]();
  });

  test.each(Object.entries(KINDS))(
    "may do one thing no more says which, though nobody uses it (%s)",
    async (_, kind) => {
      await using store = await kind.open(connection);
      await store.prove?.();
      expect(store.health?.().fault).toBeUndefined();
      for (const [object, privileges] of Object.entries(kind.needs)) {
        for (const privilege of privileges) {
          const what = `${privilege} ON ${nameOf(object)}`;
          await schema.rows(`REVOKE ${what} FROM ${name}`);
          for (let looks = 0; looks < 2; looks++) {
            await store.prove?.();
            expect(store.health?.().fault).toContain(`GRANT ${what} TO ${name}`);
          }
          await schema.rows(`GRANT ${what} TO ${name}`);
          await store.prove?.();
          expect(store.health?.().fault).toBeUndefined();
        }
      }
    },
  );

  test.each(Object.entries(KINDS))("may not even see the schema says so (%s)", async (_, kind) => {
    await using store = await kind.open(connection);
    await schema.rows(`REVOKE USAGE ON SCHEMA ${name} FROM ${name}`);
    await store.prove?.();
    expect(store.health?.().fault).toContain(`GRANT USAGE ON SCHEMA ${name} TO ${name}`);
  });

  test("lacked a privilege at the start says so at once, and several in one sentence", async () => {
    const [queue, record] = ["outbox_queue", "outbox_record"].map((table) => `TABLE ${name}.${table}`);
    await schema.rows(`REVOKE DELETE, UPDATE ON ${queue} FROM ${name}; REVOKE UPDATE ON ${record} FROM ${name}`);
    await using store = await openOn(connection);
    const both = `GRANT DELETE, UPDATE ON ${queue} TO ${name}; GRANT UPDATE ON ${record} TO ${name}`;
    expect(store.health?.().fault).toContain(`not allowed: grant the privileges to the user: ${both}`);
  });

  test("has these privileges and no more does everything with an outbox", async () => {
    await using store: OutboxStore = await openOn(connection);
    const [first, second] = [recordOf("1"), recordOf("2")];
    await store.persist([first, second], signal);
    const [claim] = await claimAll(store, signal, 1);
    if (claim !== undefined) await store.finish([done(claim)], signal);
    await store.claimOne(second.id, 60_000, signal);
    await store.list({}, { limit: 1, offset: 0 }, signal);
    expect(await store.status(first.id, signal)).toBe("done");
    expect(store.health?.().fault).toBeUndefined();
  });

  test("has these privileges and no more does everything with dead letters and leases", async () => {
    await using dlq = await openDlq(connection);
    for (const id of ["1", "2", "3"]) await dlq.put(deadLetter(id), signal);
    await dlq.marks.mark(new Map([["2", { assignee: "alice" }]]), signal);
    await dlq.page({}, { limit: 10, order: "oldest", budget: 10 }, signal);
    await dlq.facets({ query: {}, by: ["routeId"], maxGroups: 10, buckets: 10 }, signal);
    const job = { id: "job", revision: 1, state: "planned", createdAt: 0, document: "{}" };
    await dlq.jobs.put(job, undefined, signal);
    await dlq.jobs.put({ ...job, revision: 2 }, 1, signal);
    await dlq.jobs.delete(["job"], signal);
    await dlq.admin.trash.move(["3"], "job", Date.now() + 60_000, signal);
    expect(await dlq.admin.trash.restore("job", 10, signal)).toEqual({ restored: 1, present: 0 });
    await dlq.admin.delete(["1"], signal);
    await dlq.admin.deleteWhere({}, undefined, signal);
    expect(await dlq.count(10, signal)).toBe(0);
    await using leases: LeaseStore = await openLeases(connection);
    const held = { holder: "a", token: 1, beat: 1, ttlMs: 20_000 };
    expect(await leases.replace("key", undefined, held, signal)).toBe(true);
    expect(await leases.replace("key", held, { ...held, beat: 2 }, signal)).toBe(true);
    expect([dlq.health?.().fault, leases.health?.().fault]).toEqual([undefined, undefined]);
  });
});
