import { times } from "@bridge/tooling/long";
import { noPostgres } from "@bridge/tooling/test-postgres";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { step } from "./support/instance-steps.ts";
import { makeTables, type TestTables } from "./support/outbox.ts";
import { Plant } from "./support/plant.ts";
import { ServerTime } from "./support/server-time.ts";

describe.skipIf(noPostgres)(
  "instances that stand still, whose answers get lost, at a server whose clock is set",
  () => {
    let tables: TestTables;
    let time: ServerTime;
    beforeAll(async () => {
      tables = await makeTables();
      time = await ServerTime.of(tables.schema);
    });
    afterAll(() => tables[Symbol.asyncDispose]());

    test(
      "none is lent twice at once, keys keep their order, and everything ends once",
      { timeout: 120_000 },
      async () => {
        await fc.assert(
          fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60, size: "max" }), async (steps) => {
            await using plant = await Plant.open(tables, time);
            for (const one of steps) await plant.take(one);
            expect(await plant.drain()).toEqual([]);
          }),
          // Shrinking takes minutes: it is for whoever replays the seed and path that a failure tells.
          { numRuns: times(5, 15), endOnFailure: true },
        );
      },
    );
  },
);
