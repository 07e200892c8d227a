import { describeLeaseStore } from "@bridge/conformance";
import { noPostgres, testSchema, type TestSchema } from "@bridge/tooling/test-postgres";
import { afterAll, beforeAll, describe } from "vitest";
import { makeTables, openLeases } from "./support/leases.ts";

describe.skipIf(noPostgres)("leases on PostgreSQL", () => {
  let schema: TestSchema;
  beforeAll(async () => {
    schema = await testSchema();
    await makeTables(schema.connection);
  });
  afterAll(() => schema[Symbol.asyncDispose]());

  describeLeaseStore("postgres", {
    async open() {
      await schema.rows(`TRUNCATE ${schema.connection.schema}.leases`);
      return openLeases(schema.connection);
    },
    reopen: () => openLeases(schema.connection),
    second: () => openLeases(schema.connection),
  });
});
