import {
  type DeadLetter,
  type DeadLetterFilter,
  deadLetterHead,
  type DlqAdmin,
  type DlqStore,
  type ErrorClass,
} from "@bridge/ports";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openMemoryDlq } from "../src/index.ts";

const MAX_ENTRIES = 12;
const { signal } = new AbortController();

/** What the store should be: a plain list that is filtered and sorted anew for each question. */
class Model {
  entries: DeadLetter[] = [];

  put(entry: DeadLetter): "kept" | "full" {
    if (this.entries.some(({ id }) => id === entry.id)) return "kept";
    if (this.entries.length >= MAX_ENTRIES) return "full";
    this.entries.push(entry);
    return "kept";
  }

  matching({ routeId, category, since, before }: DeadLetterFilter): readonly DeadLetter[] {
    return this.entries
      .filter((entry) => routeId === undefined || entry.routeId === routeId)
      .filter((entry) => category === undefined || entry.category === category)
      .filter((entry) => since === undefined || entry.failedAt >= since)
      .filter((entry) => before === undefined || entry.failedAt < before)
      .toSorted((a, b) => a.failedAt - b.failedAt || (a.id < b.id ? -1 : 1));
  }

  remove(ids: ReadonlySet<string>): void {
    this.entries = this.entries.filter(({ id }) => !ids.has(id));
  }
}

type Store = DlqStore & { readonly admin: DlqAdmin };
type Step = (model: Model, store: Store) => Promise<void>;

// Few values, so that they meet.
const id = fc.constantFrom(..."abcdefghijklmnop");
const routeId = fc.constantFrom("r1", "r2");
const category = fc.constantFrom<ErrorClass[]>("transient", "permanent", "rejected");
const time = fc.integer({ min: 0, max: 6 });
const filter = fc.record({ routeId, category, since: time, before: time }, { requiredKeys: [] });

const entry = fc
  .record({ id, routeId, category, failedAt: time, payload: fc.uint8Array({ maxLength: 4 }) })
  .map(({ payload, ...fields }): DeadLetter => {
    const about = { sourceId: "s", correlationId: "c", subject: "t" };
    const envelope = { ...about, id: "m", contentType: "", headers: {}, payload, receivedAt: 0 };
    const failure = { bindingId: "", reason: "", errorCode: "INTERNAL", lastError: "", attempts: 1 } as const;
    return { ...about, ...failure, ...fields, envelope };
  });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: entry.map(putStep) },
  id.map(getStep),
  fc.tuple(filter, fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 5 })).map(listStep),
  fc.integer({ min: 0, max: MAX_ENTRIES + 1 }).map(countStep),
  fc.array(id, { maxLength: 4 }).map(deleteStep),
  fc.tuple(filter, fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined })).map(deleteWhereStep),
);

test("does what a naive list does, step by step", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), async (steps) => {
      const model = new Model();
      await using store = openMemoryDlq({ maxEntries: MAX_ENTRIES });
      for (const take of steps) await take(model, store);
      const all = await store.list({}, { limit: Number.MAX_SAFE_INTEGER, offset: 0 }, signal);
      expect(all).toEqual(model.matching({}).map(deadLetterHead));
    }),
    { numRuns: 1_000 },
  );
});

function putStep(deadLetter: DeadLetter): Step {
  return async (model, store) => {
    const put = store.put(deadLetter, signal);
    if (model.put(deadLetter) === "full") await expect(put).rejects.toMatchObject({ code: "UNAVAILABLE" });
    else await put;
  };
}

function getStep(wanted: string): Step {
  return async (model, store) => {
    expect(await store.get(wanted, signal)).toEqual(model.entries.find((known) => known.id === wanted));
  };
}

function listStep([which, limit, offset]: readonly [DeadLetterFilter, number, number]): Step {
  return async (model, store) => {
    const expected = model.matching(which).slice(offset, offset + limit);
    expect(await store.list(which, { limit, offset }, signal)).toEqual(expected.map(deadLetterHead));
  };
}

function countStep(cap: number): Step {
  return async (model, store) => {
    expect(await store.count(cap, signal)).toBe(Math.min(cap, model.entries.length));
  };
}

function deleteStep(ids: readonly string[]): Step {
  return async (model, store) => {
    const there = new Set(ids.filter((wanted) => model.entries.some((known) => known.id === wanted)));
    expect(await store.admin.delete(ids, signal)).toEqual(there);
    model.remove(there);
  };
}

function deleteWhereStep([which, limit]: readonly [DeadLetterFilter, number | undefined]): Step {
  return async (model, store) => {
    const gone = new Set(
      model
        .matching(which)
        .slice(0, limit)
        .map((known) => known.id),
    );
    expect(await store.admin.deleteWhere(which, limit, signal)).toBe(gone.size);
    model.remove(gone);
  };
}
