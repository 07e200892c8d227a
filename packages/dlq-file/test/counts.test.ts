import { times } from "@bridge/tooling/long";
import { PATIENCE } from "@bridge/tooling/patience";
import {
  type Clock,
  type DeadLetter,
  type DeadLetterHead,
  type DeadLetterQuery,
  type ErrorClass,
  type FacetKey,
  type Facets,
  type MarkChange,
  systemClock,
} from "@bridge/ports";
import { matchesQuery } from "@bridge/ports/internal";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { deadLetter } from "./support/dead-letter.ts";
import { openDlq, openScratchDlq, type ScratchDlq, scratchFolder, survivorOf } from "./support/scratch-dlq.ts";

const { signal } = new AbortController();
const HOUR_MS = 3_600_000;
const ALL = { limit: 100_000, offset: 0 };
const BATCH = "purged";

type Step = (store: ScratchDlq) => Promise<ScratchDlq>;

// Few values, so that they meet; times of some hours, and some at the beginning of one.
const category = fc.constantFrom<ErrorClass[]>("transient", "permanent");
const failedAt = fc.oneof(
  fc.integer({ min: -2 * HOUR_MS, max: 5 * HOUR_MS }),
  fc.integer({ min: -2, max: 5 }).map((hour) => hour * HOUR_MS),
);
const id = fc.integer({ min: 0, max: 400 }).map((number) => `e${number}`);
const entry = fc
  .record({ id, category, failedAt, route: fc.nat(2), binding: fc.nat(1), error: fc.constantFrom("a", "b", "c") })
  .map(({ id: chosen, route, binding, error, ...fields }) =>
    deadLetter(chosen, { ...fields, routeId: `r${route}`, bindingId: `b${binding}`, lastError: `no ${error}` }),
  );
const query: fc.Arbitrary<DeadLetterQuery> = fc.record(
  {
    routeId: fc.constantFrom("r0", "r1"),
    bindingId: fc.constant("b1"),
    category,
    since: failedAt,
    before: failedAt,
    quarantined: fc.boolean(),
  },
  { requiredKeys: [] },
);
const by = fc.constantFrom<FacetKey[][]>(["routeId"], ["fingerprint"], ["category", "bindingId"], ["errorCode"]);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.array(entry, { minLength: 1, maxLength: 60, size: "max" }).map(put) },
  { weight: 2, arbitrary: fc.array(id, { maxLength: 40, size: "max" }).map(deleted) },
  { weight: 3, arbitrary: fc.tuple(fc.array(id, { maxLength: 60, size: "max" }), fc.boolean()).map(keptBack) },
  { weight: 2, arbitrary: fc.tuple(query, fc.nat(30)).map(purged) },
  { weight: 1, arbitrary: fc.array(id, { maxLength: 40, size: "max" }).map(discarded) },
  { weight: 1, arbitrary: fc.nat(30).map(restored) },
  { weight: 1, arbitrary: fc.constant<Step>((store) => survivorOf(store)) },
);

test(
  "operators 2: after 10,000 random puts, deletes, purges, marks and restarts the counters equal a full scan",
  { timeout: 120_000 },
  async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 20, maxLength: 40, size: "max" }),
        fc.array(fc.tuple(query, by), { minLength: 4, maxLength: 4 }),
        async (steps, asked) => {
          let store = openScratchDlq();
          try {
            for (const take of steps) {
              store = await take(store);
              for (const [which, keys] of asked) await compare(store, which, keys);
              compared++;
            }
          } finally {
            await store[Symbol.asyncDispose]();
          }
        },
      ),
      { numRuns: times(10, 60) },
    );
    expect(compared).toBeGreaterThan(100);
  },
);

async function compare(store: ScratchDlq, which: DeadLetterQuery, keys: readonly FacetKey[]): Promise<void> {
  const facets = await store.facets?.({ query: which, by: keys, maxGroups: 200, buckets: 6 }, signal);
  const heads = (await store.list({}, ALL, signal)).filter((head) => matchesQuery(head, which));
  const at = heads.map((head) => head.failedAt);
  expect(facets).toMatchObject({ total: heads.length, counted: heads.length, exact: true, moreGroups: false });
  if (heads.length === 0) return;
  expect(facets).toMatchObject({ oldestFailedAt: Math.min(...at), newestFailedAt: Math.max(...at) });
  expect(groupsIn(facets)).toEqual(groupsOf(heads, keys));
  expect(facets?.histogram?.counts.reduce((a, b) => a + b)).toBe(heads.length);
  for (const { key, sample } of facets?.groups ?? []) expect(sample).toMatchObject(key);
}

type Told = readonly [key: string, count: number, oldest: number, newest: number];

function groupsIn(facets: Facets | undefined): readonly Told[] {
  return sorted(
    (facets?.groups ?? []).map(({ key, count, oldestFailedAt, newestFailedAt }) => [
      Object.values(key).join(),
      count,
      oldestFailedAt,
      newestFailedAt,
    ]),
  );
}

function groupsOf(heads: readonly DeadLetterHead[], keys: readonly FacetKey[]): readonly Told[] {
  const groups = Map.groupBy(heads, (head) => keys.map((key) => head[key as "routeId"]).join());
  return sorted(
    [...groups].map(([key, of]) => {
      const at = of.map((head) => head.failedAt);
      return [key, of.length, Math.min(...at), Math.max(...at)];
    }),
  );
}

function sorted(groups: readonly Told[]): readonly Told[] {
  return groups.toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function put(entries: readonly DeadLetter[]): Step {
  return async (store) => {
    await Promise.all(entries.map((each) => store.put(each, signal)));
    return store;
  };
}

function deleted(ids: readonly string[]): Step {
  return async (store) => {
    await store.admin.delete(ids, signal);
    return store;
  };
}

function keptBack([ids, quarantined]: readonly [readonly string[], boolean]): Step {
  return async (store) => {
    await store.marks?.mark(new Map(ids.map((each) => [each, { quarantined }])), signal);
    return store;
  };
}

function purged([{ routeId, category: which, since, before }, limit]: readonly [DeadLetterQuery, number]): Step {
  return async (store) => {
    await store.admin.deleteWhere({ routeId, category: which, since, before }, limit, signal);
    return store;
  };
}

function discarded(ids: readonly string[]): Step {
  return async (store) => {
    await store.admin.trash?.move(ids, BATCH, Date.now() + HOUR_MS, signal);
    return store;
  };
}

function restored(limit: number): Step {
  return async (store) => {
    await store.admin.trash?.restore(BATCH, limit, signal);
    return store;
  };
}

test("operators 2: what comes, goes, is kept back and moves to the trash while a large file is counted in many slices counts once", async () => {
  using scratch = scratchFolder();
  const entryAt = (number: number): DeadLetter =>
    deadLetter(`e${number}`, {
      failedAt: (number - 9_000) * 500,
      routeId: `r${number % 3}`,
      lastError: `no ${number % 5}x`,
    });
  {
    await using store = openDlq(scratch.path);
    await Promise.all(Array.from({ length: 21_000 }, (_, number) => store.put(entryAt(number * 2), signal)));
  }
  // Each look at it is a second later: so slices are as short as they can be.
  let now = 0;
  const clock: Clock = { ...systemClock, monotonic: () => (now += 1_000) };
  await using store = openDlq(scratch.path, { clock });
  const isCounted = async (): Promise<boolean | undefined> => {
    const facets = await store.facets?.({ query: {}, by: ["routeId"], maxGroups: 1, buckets: 0 }, signal);
    return facets?.exact;
  };
  for (let change = 0; change < 60; change++) {
    const number = (change * 9_973) % 42_000;
    await store.put(entryAt(number | 1), signal);
    await store.admin.delete([`e${number & ~1}`], signal);
    await store.admin.trash?.move([`e${(number & ~1) + 10}`], BATCH, Date.now() + HOUR_MS, signal);
    const marks = [100, 200].map((more): [string, MarkChange] => [`e${(number & ~1) + more}`, { quarantined: true }]);
    await store.marks?.mark(new Map(marks), signal);
    if (change % 3 === 0) await store.admin.trash?.restore(BATCH, 1, signal);
    if (change === 10) expect(await isCounted()).toBe(false);
  }
  await vi.waitFor(async () => expect(await isCounted()).toBe(true), PATIENCE);
  await compare(store, {}, ["routeId", "fingerprint"]);
  await compare(store, { routeId: "r1", since: -HOUR_MS }, ["category"]);
  await compare(store, { quarantined: false }, ["routeId"]);
  await compare(store, { quarantined: true, before: HOUR_MS / 2 }, ["fingerprint"]);
});
