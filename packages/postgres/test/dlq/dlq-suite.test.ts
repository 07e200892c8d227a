import { describeDlqStore } from "@bridge/conformance";
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

  describeDlqStore("postgres", {
    async open() {
      await schema.rows(`TRUNCATE ${schema.connection.schema}.dead_letters`);
      return openDlq(schema.connection);
    },
    reopen: () => openDlq(schema.connection),
    second: () => openDlq(schema.connection),
  });
});
