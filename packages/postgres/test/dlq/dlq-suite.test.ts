import { describeDlqParts, describeDlqStore, type DlqPartsSubject } from "@bridge/conformance";
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

  const subject = {
    async open() {
      const names = ["dead_letters", "dead_letter_jobs", "dead_letter_trash"];
      await schema.rows(`TRUNCATE ${names.map((name) => `${schema.connection.schema}.${name}`).join(", ")}`);
      return openDlq(schema.connection);
    },
    reopen: () => openDlq(schema.connection),
    second: () => openDlq(schema.connection),
    async rewriteHead(store, id, change) {
      const entries = `${schema.connection.schema}.dead_letters`;
      const [row] = (await schema.rows(`SELECT head FROM ${entries} WHERE id = '${id}'`)) as {
        readonly head: string;
      }[];
      await schema.rows(
        `UPDATE ${entries} SET head = '${change(row?.head ?? "").replaceAll("'", "''")}' WHERE id = '${id}'`,
      );
      return store;
    },
    many: times(2_000, 10_000),
    courses: times(4, 60),
  } satisfies DlqPartsSubject;
  describeDlqStore("postgres", subject);
  describeDlqParts("postgres", subject);
});
