import assert from "node:assert/strict";
import type { DeadLetter, DeadLetterFilter, DlqStore } from "@bridge/ports";
import { type DlqCheck, headOf, idsOf, putAll, withStore } from "./check.ts";
import { at, deadLetter, deadLetters, ENTRIES, idsWhere, shuffled } from "./dead-letters.ts";

const ALL = { limit: 1000, offset: 0 };

/** Lists and counts. */
export const LISTING_CHECKS = {
  "lists oldest first, by the time of failure and then by id": withStore(async (store, signal) => {
    const entries = ["d", "a", "c", "b"].flatMap((id) => [
      deadLetter(`${id}2`, { failedAt: at(2) }),
      deadLetter(`${id}1`, { failedAt: at(1) }),
    ]);
    for (const entry of entries) await store.put(entry, signal);
    assert.deepEqual(await idsOf(store, signal), ["a1", "b1", "c1", "d1", "a2", "b2", "c2", "d2"]);
  }),
  "lists everything of an entry but its envelope": withStore(async (store, signal) => {
    const entry = deadLetter("a", { attempts: 3, bindingId: "", envelope: { payload: new Uint8Array(1000) } });
    await store.put(entry, signal);
    const [listed] = await store.list({}, ALL, signal);
    assert.deepEqual({ ...listed }, headOf(entry));
  }),
  "lists nothing of an empty store": withStore(async (store, signal) => {
    assert.deepEqual(await store.list({}, ALL, signal), []);
  }),
  "a page that is none is refused by its field, and lists nothing": withStore(async (store, signal) => {
    await putAll(store, [deadLetter("a"), deadLetter("b")], signal);
    for (const [field, page] of [
      ["limit", { limit: -1, offset: 0 }],
      ["limit", { limit: 0.5, offset: 0 }],
      ["limit", { limit: NaN, offset: 0 }],
      ["offset", { limit: 1, offset: -1 }],
    ] as const) {
      await assert.rejects(
        store.list({}, page, signal),
        (error) => error instanceof RangeError && error.message.startsWith(field),
        `taken for a page: ${JSON.stringify(page)}`,
      );
    }
    assert.deepEqual(await store.list({}, { limit: 0, offset: 0 }, signal), []);
  }),
  "lists what failed at or after since": filtered({ since: at(10) }, (_, i) => i >= 10),
  "lists what failed before before": filtered({ before: at(10) }, (_, i) => i < 10),
  "lists what failed since and before": filtered({ since: at(5), before: at(10) }, (_, i) => i >= 5 && i < 10),
  "lists nothing when since is not before before": filtered({ since: at(10), before: at(10) }, () => false),
  "lists a route": filtered({ routeId: "route-1" }, ({ routeId }) => routeId === "route-1"),
  "lists a category": filtered({ category: "rejected" }, ({ category }) => category === "rejected"),
  "lists nothing of an unknown route": filtered({ routeId: "route" }, () => false),
  "lists what all filters match": filtered(
    { routeId: "route-0", category: "permanent", since: at(4), before: at(28) },
    ({ routeId, category }, i) => routeId === "route-0" && category === "permanent" && i >= 4 && i < 28,
  ),
  "a filter that is undefined matches all": filtered(
    { routeId: undefined, category: undefined, since: undefined, before: undefined },
    () => true,
  ),
  "pages without gap or repetition": withStore(async (store, signal) => {
    await fill(store, signal);
    for (const limit of [1, 7, 29, 30, 31]) {
      assert.deepEqual(
        await walk(store, {}, limit, signal),
        idsWhere(() => true),
        `pages of ${limit}`,
      );
    }
  }),
  "pages through a filter": withStore(async (store, signal) => {
    await fill(store, signal);
    const filter: DeadLetterFilter = { routeId: "route-1", since: at(3), before: at(27) };
    const expected = idsWhere(({ routeId }, i) => routeId === "route-1" && i >= 3 && i < 27);
    for (const limit of [1, 5, 100]) assert.deepEqual(await walk(store, filter, limit, signal), expected);
  }),
  "an offset beyond the end gives nothing, 100,000 too": withStore(async (store, signal) => {
    await fill(store, signal);
    for (const offset of [30, 31, 100_000]) {
      assert.deepEqual(await store.list({}, { limit: 10, offset }, signal), []);
      assert.deepEqual(await store.list({ routeId: "route-0" }, { limit: 10, offset }, signal), []);
    }
  }),
  "gives 1,001 entries in one page": withStore(async (store, signal) => {
    const entries = deadLetters(1_003);
    await putAll(store, entries, signal);
    const page = await store.list({}, { limit: 1_001, offset: 1 }, signal);
    assert.deepEqual(
      page.map(({ id }) => id),
      entries.slice(1, 1_002).map(({ id }) => id),
    );
  }),
  "counts the entries": withStore(async (store, signal) => {
    assert.equal(await store.count(1000, signal), 0);
    await fill(store, signal);
    assert.equal(await store.count(1000, signal), ENTRIES.length);
  }),
  "counting stops at the cap": withStore(async (store, signal) => {
    await fill(store, signal);
    const counts = await Promise.all([1, 29, 30, 31].map((cap) => store.count(cap, signal)));
    assert.deepEqual(counts, [1, 29, 30, 30]);
  }),
} as const satisfies Record<string, DlqCheck>;

function filtered(filter: DeadLetterFilter, expected: (entry: DeadLetter, index: number) => boolean): DlqCheck {
  return withStore(async (store, signal) => {
    await fill(store, signal);
    const listed = await store.list(filter, ALL, signal);
    assert.deepEqual(
      listed.map(({ id }) => id),
      idsWhere(expected),
    );
  });
}

async function fill(store: DlqStore, signal: AbortSignal): Promise<void> {
  await putAll(store, shuffled(ENTRIES), signal);
}

/** The ids of all pages, which end with the first that is not full. */
async function walk(
  store: DlqStore,
  filter: DeadLetterFilter,
  limit: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const ids: string[] = [];
  for (;;) {
    const page = await store.list(filter, { limit, offset: ids.length }, signal);
    assert.ok(page.length <= limit, `${page.length} entries in a page of ${limit}`);
    ids.push(...page.map(({ id }) => id));
    if (page.length < limit) return ids;
  }
}
