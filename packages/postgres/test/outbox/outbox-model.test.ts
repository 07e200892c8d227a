import { SuiteClock } from "@bridge/conformance";
import { outboxCommands, OutboxModel } from "@bridge/conformance/outbox-commands";
import { noPostgres } from "@bridge/tooling/test-postgres";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeTables, openOn, type TestTables } from "./support/outbox.ts";
import { ServerTime } from "./support/server-time.ts";

const HANDLES = 2;

describe.skipIf(noPostgres)("an outbox on PostgreSQL", () => {
  let tables: TestTables;
  let time: ServerTime;
  beforeAll(async () => {
    tables = await makeTables();
    time = await ServerTime.of(tables.schema);
  });
  afterAll(() => tables[Symbol.asyncDispose]());

  test("does what a naive list does, by one handle or another", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(outboxCommands, async (commands) => {
        await tables.empty();
        const clock = new SuiteClock(1_767_225_600_000);
        const openOne = async () => time.with(await openOn(tables.connection, { clock }), clock);
        const open = () => Promise.all(Array.from({ length: HANDLES }, openOne));
        let stores = await open();
        const close = () => Promise.all(stores.map((store) => store[Symbol.asyncDispose]()));
        let turn = 0;
        const real = {
          store: () => stores[turn++ % HANDLES] as (typeof stores)[number],
          clock,
          // Loans and waits are in the tables, and their clock goes on.
          async restart() {
            await close();
            stores = await open();
          },
          claims: [],
          count: 0,
        };
        try {
          const model = new OutboxModel();
          await fc.asyncModelRun(() => ({ model, real }), commands);
          const left = await real.store().list({}, { limit: 1_000, offset: 0 }, new AbortController().signal);
          expect(left.map(({ id }) => id)).toEqual(model.pending().map(({ record }) => record.id));
        } finally {
          await close();
        }
      }),
      // Shrinking takes minutes: it is for whoever replays the seed and path that a failure tells.
      { numRuns: 6, endOnFailure: true },
    );
  });
});
