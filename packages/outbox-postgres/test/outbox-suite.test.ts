import { describeOutboxStore } from "@bridge/conformance";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { afterAll, beforeAll, describe } from "vitest";
import { makeTables, openOn, type TestTables } from "./support/outbox.ts";

describe.skipIf(noPostgres)("PostgreSQL", () => {
  let tables: TestTables;
  beforeAll(async () => void (tables = await makeTables()));
  afterAll(() => tables[Symbol.asyncDispose]());

  describeOutboxStore("postgres, two handles on the same tables", {
    async open(options) {
      await tables.empty();
      return openOn(tables.connection, options);
    },
    second: async (_, options) => openOn(tables.connection, options),
    async reopen(store, options) {
      // With a process its connections end; what the server has got of it is done still.
      await store[Symbol.asyncDispose]();
      return openOn(tables.connection, options);
    },
  });
});
