import assert from "node:assert/strict";
import type { DeadLetterFilter, DlqAdmin, DlqStore, ErrorClass } from "@bridge/ports";
import fc from "fast-check";
import { deadLetter } from "./dead-letters.ts";

type Store = DlqStore & { readonly admin: DlqAdmin };

/** Does the same to a store and to a model of it, such as the one in memory, and compares the answers. */
export type DlqStep = (store: Store, model: Store) => Promise<void>;

const { signal } = new AbortController();

// Few values, so that they meet.
const id = fc.constantFrom(...Array.from({ length: 16 }, (_, i) => `e${i}`));
const routeId = fc.constantFrom("r1", "r2");
const category = fc.constantFrom<ErrorClass[]>("transient", "permanent", "rejected");
const time = fc.integer({ min: 0, max: 6 });
const filter = fc.record({ routeId, category, since: time, before: time }, { requiredKeys: [] });
const few = fc.integer({ min: 0, max: 5 });
const entry = fc
  .record({ id, routeId, category, failedAt: time, payload: fc.uint8Array({ maxLength: 4 }) })
  .map(({ payload, ...fields }) => deadLetter(fields.id, { ...fields, envelope: { payload } }));

const step: fc.Arbitrary<DlqStep> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.array(entry, { minLength: 1, maxLength: 6 }).map((entries): DlqStep => async (store, model) => {
      // One after another where ids repeat: which of two puts at once is first is nobody's promise.
      for (const put of entries) await Promise.all([store.put(put, signal), model.put(put, signal)]);
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

/** What may happen to a DLQ store. */
export const dlqSteps: fc.Arbitrary<readonly DlqStep[]> = fc.array(step, { minLength: 10, maxLength: 25 });

function same(ask: (store: Store) => Promise<unknown>): DlqStep {
  return async (store, model) => assert.deepEqual(await ask(store), await ask(model));
}
