import { describeDlqParts, describeDlqStore, type DlqPartsSubject } from "@bridge/conformance";
import type { DlqStore } from "@bridge/ports";
import { times } from "@bridge/tooling/long";
import { noPostgres, testSchema, type TestSchema } from "@bridge/tooling/test-postgres";
import { afterAll, beforeAll, describe } from "vitest";
import { makeTables, openDlq } from "./support/dlq.ts";

describe.skipIf(noPostgres)("dead letters on PostgreSQL", () => {
  let schema: TestSchema;
  beforeAll(async () => {
    schema = await testSchema();
    await makeTables(schema.connection);
  });
  afterAll(() => schema[Symbol.asyncDispose]());

  async function rewritten(
    store: DlqStore,
    { table, column, id }: { readonly table: string; readonly column: string; readonly id: string },
    change: (text: string) => string,
  ): Promise<DlqStore> {
    const whole = `${schema.connection.schema}.${table}`;
    const rows = await schema.rows(`SELECT ${column} AS text FROM ${whole} WHERE id = '${id}'`);
    const [{ text }] = rows as [{ readonly text: string }];
    await schema.rows(`UPDATE ${whole} SET ${column} = '${change(text).replaceAll("'", "''")}' WHERE id = '${id}'`);
    return store;
  }

  const subject = {
    async open() {
      const names = ["dead_letters", "dead_letter_jobs", "dead_letter_trash"];
      await schema.rows(`TRUNCATE ${names.map((name) => `${schema.connection.schema}.${name}`).join(", ")}`);
      return openDlq(schema.connection);
    },
    reopen: () => openDlq(schema.connection),
    second: () => openDlq(schema.connection),
    rewriteHead: (store, id, change) => rewritten(store, { table: "dead_letters", column: "head", id }, change),
    async moveInTime(store, id, failedAt) {
      await schema.rows(
        `UPDATE ${schema.connection.schema}.dead_letters SET failed_at = ${failedAt} WHERE id = '${id}'`,
      );
      return store;
    },
    rename: (store, id, to) => rewritten(store, { table: "dead_letters", column: "id", id }, () => to),
    async renameInTrash(store, { batch, id }, to) {
      const trash = `${schema.connection.schema}.dead_letter_trash`;
      await schema.rows(`UPDATE ${trash} SET id = '${to}' WHERE batch = '${batch}' AND id = '${id}'`);
      return store;
    },
    async moveEnds(store, batch, until) {
      await schema.rows(
        `UPDATE ${schema.connection.schema}.dead_letter_trash SET until = ${until} WHERE batch = '${batch}'`,
      );
      // It sweeps as it opens.
      await store[Symbol.asyncDispose]();
      return openDlq(schema.connection);
    },
    rewriteJob: (store, id, change) => rewritten(store, { table: "dead_letter_jobs", column: "document", id }, change),
    many: times(2_000, 10_000),
    courses: times(4, 60),
  } satisfies DlqPartsSubject;
  describeDlqStore("postgres", subject);
  describeDlqParts("postgres", subject);
});
