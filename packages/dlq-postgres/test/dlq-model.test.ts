import { openMemoryDlq } from "@bridge/dlq-memory";
import type { DeadLetterFilter, DlqAdmin, DlqStore, ErrorClass } from "@bridge/ports";
import { noPostgres, testSchema } from "@bridge/tooling/test-postgres";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deadLetter } from "./support/dead-letter.ts";
import { makeTables, openDlq } from "./support/dlq.ts";

const { signal } = new AbortController();

type Store = DlqStore & { readonly admin: DlqAdmin };
/** Does the same to the store and to the one in memory, and compares the answers. */
type Step = (store: Store, memory: Store) => Promise<void>;

// Few values, so that they meet.
const id = fc.constantFrom(..."abcdefghijklmnop");
const routeId = fc.constantFrom("r1", "r2");
const category = fc.constantFrom<ErrorClass[]>("transient", "permanent", "rejected");
const time = fc.integer({ min: 0, max: 6 });
const filter = fc.record({ routeId, category, since: time, before: time }, { requiredKeys: [] });
const few = fc.integer({ min: 0, max: 5 });
const entry = fc
  .record({ id, routeId, category, failedAt: time, payload: fc.uint8Array({ maxLength: 4 }) })
  .map(({ payload, ...fields }) => deadLetter(fields.id, { ...fields, envelope: { payload } }));

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.array(entry, { minLength: 1, maxLength: 6 }).map((entries): Step => async (store, memory) => {
      // One after another where ids repeat: which of two puts at once is first is nobody's promise.
      for (const put of entries) await Promise.all([store.put(put, signal), memory.put(put, signal)]);
    }),
  },
  id.map((wanted) => same((store) => store.get(wanted, signal))),
  fc
    .tuple(filter, few, few)
    .map(([which, limit, offset]) => same((store) => store.list(which, { limit, offset }, signal))),
  fc.integer({ min: 0, max: 20 }).map((cap) => same((store) => store.count(cap, signal))),
  fc.array(id, { maxLength: 4 }).map((ids) => same((store) => store.admin.delete(ids, signal))),
  fc
    .tuple(filter, fc.option(few, { nil: undefined }))
    .map(([which, limit]: [DeadLetterFilter, number | undefined]) =>
      same((store) => store.admin.deleteWhere(which, limit, signal)),
    ),
);

describe.skipIf(noPostgres)("dead letters on PostgreSQL", () => {
  test("do what those in memory do", async () => {
    await using schema = await testSchema();
    await makeTables(schema.connection);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 25 }), async (steps) => {
        await schema.rows(`TRUNCATE ${schema.connection.schema}.dead_letters`);
        await using store = await openDlq(schema.connection);
        await using memory = openMemoryDlq({ maxEntries: 100 });
        for (const take of steps) await take(store, memory);
        const all = { limit: 100, offset: 0 };
        expect(await store.list({}, all, signal)).toEqual(await memory.list({}, all, signal));
      }),
      { numRuns: 10 },
    );
  });
});

function same(ask: (store: Store) => Promise<unknown>): Step {
  return async (store, memory) => expect(await ask(store)).toEqual(await ask(memory));
}
