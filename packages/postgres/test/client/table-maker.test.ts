import { PATIENCE } from "@bridge/tooling/patience";
import { systemClock, systemRandom, silentLogger } from "@bridge/ports";
import { noPostgres, testSchema } from "@bridge/tooling/test-postgres";
import { describe, expect, test } from "vitest";
import { tableMaker } from "../../src/client/table-maker.ts";

const SEAMS = { clock: systemClock, random: systemRandom(), logger: silentLogger, id: "notes" };

describe.skipIf(noPostgres)("making tables (needs PostgreSQL)", () => {
  test("where something else has a table's name says that, and not to make the tables", async () => {
    await using schema = await testSchema();
    const make = tableMaker({
      store: "notes",
      needs: {},
      steps: [(table) => `CREATE TABLE ${table("notes")} (id text PRIMARY KEY)`],
    })(schema.connection, SEAMS);
    await schema.rows(`CREATE SCHEMA ${schema.connection.schema}`);
    await schema.rows(`CREATE VIEW ${schema.connection.schema}.notes AS SELECT 1 AS id`);
    await expect(make(AbortSignal.timeout(PATIENCE.timeout))).rejects.toMatchObject({
      code: "DESTINATION_NOT_FOUND",
      message: expect.stringMatching(
        /^in the schema test_\w+ something else has the name of a table.*SQLSTATE 42/,
      ) as string,
    });
  });
});
