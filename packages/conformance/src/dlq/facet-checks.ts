import assert from "node:assert/strict";
import type { DeadLetterQuery, FacetKey, Facets } from "@bridge/ports";
import { matchesQuery } from "@bridge/ports/internal";
import { adminOf, assertAborts, putAll, withStore } from "./check.ts";
import { at, deadLetter, deadLetters } from "./dead-letters.ts";
import type { DlqPartCheck } from "./dlq-parts-subject.ts";
import { fillVaried, QUERIES, VARIED, VARIED_HEADS } from "./marked-entries.ts";
import { facetsOf } from "./parts.ts";

const BY: readonly (readonly FacetKey[])[] = [
  ["routeId"],
  ["bindingId"],
  ["category"],
  ["errorCode"],
  ["fingerprint"],
  ["assignee"],
  ["routeId", "errorCode"],
  ["assignee", "bindingId"],
  ["fingerprint", "category"],
];

/** Counts by groups. Answers may be kept for a while: who asks again for what has changed asks for something else, or for a fresh one. */
export const FACET_CHECKS = {
  "counts by one and by two, of each filter": withStore(async (store, signal) => {
    await fillVaried(store, signal);
    for (const by of BY)
      for (const query of QUERIES) {
        const facets = await facetsOf(store, { by, query }, signal);
        const what = `by ${by.join()} of ${JSON.stringify(query)}`;
        assert.deepEqual(counts(facets), expectedCounts(by, query), what);
        assert.equal(facets.exact, true, what);
        assert.equal(facets.moreGroups, false, what);
      }
  }),
  "tells when the first and the last entry of a group failed, largest group first": withStore(async (store, signal) => {
    await fillVaried(store, signal);
    const { groups, ...all } = await facetsOf(store, { by: ["bindingId"] }, signal);
    assert.equal(all.total, VARIED.length);
    assert.equal(all.counted, VARIED.length);
    assert.equal(all.oldestFailedAt, at(0));
    assert.equal(all.newestFailedAt, at(19));
    for (const [i, group] of groups.entries()) {
      const times = VARIED_HEADS.filter(({ bindingId }) => bindingId === group.key.bindingId).map(
        ({ failedAt }) => failedAt,
      );
      assert.equal(group.oldestFailedAt, Math.min(...times));
      assert.equal(group.newestFailedAt, Math.max(...times));
      assert.ok(i === 0 || group.count <= (groups[i - 1]?.count ?? 0), "a larger group comes behind a smaller one");
    }
  }),
  "shows an entry of each group": withStore(async (store, signal) => {
    await fillVaried(store, signal);
    const { groups } = await facetsOf(store, { by: ["fingerprint"], query: { routeId: "route-1" } }, signal);
    for (const { key, sample } of groups) {
      const head = VARIED_HEADS.find(({ id }) => id === sample?.id);
      assert.equal(sample?.fingerprint, key.fingerprint);
      assert.equal(sample?.routeId, "route-1");
      assert.equal(sample.lastError, head?.lastError);
      assert.equal(sample.failedAt, head?.failedAt);
    }
  }),
  "operators 2: the groups, and that there are more, account for the total": withStore(async (store, signal) => {
    await fillVaried(store, signal);
    const all = await facetsOf(store, { by: ["fingerprint"] }, signal);
    assert.equal(sum(all), all.total);
    const largest = await facetsOf(store, { by: ["fingerprint"], maxGroups: 3 }, signal);
    assert.equal(largest.groups.length, 3);
    assert.equal(largest.moreGroups, true);
    assert.equal(largest.total, all.total);
    assert.ok(sum(largest) < largest.total);
    const exactly = await facetsOf(store, { by: ["fingerprint"], maxGroups: all.groups.length }, signal);
    assert.equal(exactly.moreGroups, false);
  }),
  "a histogram counts each entry in its step": withStore(async (store, signal) => {
    const hours = [0, 0, 1, 5, 5, 5, 30, 71];
    const entries = hours.map((hour, i) => deadLetter(`e${i}`, { failedAt: at(hour * 3_600 + i) }));
    await putAll(store, entries, signal);
    for (const buckets of [1, 7, 48, 200]) {
      const { histogram } = await facetsOf(store, { buckets }, signal);
      assert.ok(histogram !== undefined, "there is no histogram");
      const { from, stepMs, counts: steps } = histogram;
      assert.ok(steps.length <= buckets, `${steps.length} steps for ${buckets} buckets`);
      assert.ok(stepMs > 0);
      const expected = steps.map(
        (_, i) =>
          entries.filter(({ failedAt }) => failedAt >= from + i * stepMs && failedAt < from + (i + 1) * stepMs).length,
      );
      assert.deepEqual([...steps], expected);
      assert.equal(
        steps.reduce((total, count) => total + count, 0),
        entries.length,
      );
    }
    assert.equal((await facetsOf(store, { buckets: 0 }, signal)).histogram, undefined);
  }),
  "counts nothing of an empty store": withStore(async (store, signal) => {
    const facets = await facetsOf(store, { buckets: 10 }, signal);
    assert.equal(facets.total, 0);
    assert.equal(facets.exact, true);
    assert.deepEqual([...facets.groups], []);
    assert.equal(facets.oldestFailedAt, undefined);
    assert.equal(facets.newestFailedAt, undefined);
  }),
  "counts follow what is put and deleted": withStore(async (store, signal) => {
    const entries = deadLetters(40);
    let asked = 100;
    const total = async (): Promise<number> => {
      const facets = await facetsOf(store, { by: ["routeId"], maxGroups: asked++ }, signal);
      assert.equal(sum(facets), facets.total);
      return facets.total;
    };
    await putAll(store, entries.slice(0, 30), signal);
    assert.equal(await total(), 30);
    await putAll(store, entries, signal);
    assert.equal(await total(), 40);
    await adminOf(store).delete(["e0003", "e0003", "unknown"], signal);
    assert.equal(await total(), 39);
    await adminOf(store).deleteWhere({ routeId: "route-0" }, 5, signal);
    assert.equal(await total(), 34);
    const { oldestFailedAt } = await facetsOf(store, { by: ["category"] }, signal);
    assert.equal(oldestFailedAt, at(1));
    await adminOf(store).deleteWhere({}, undefined, signal);
    assert.equal(await total(), 0);
  }),
  "a fresh count has what has come and gone since the last one": withStore(async (store, signal) => {
    const total = async (): Promise<number> =>
      (await facetsOf(store, { by: ["routeId"], query: { before: at(1_000) }, fresh: true }, signal)).total;
    await putAll(store, deadLetters(10), signal);
    assert.equal(await total(), 10);
    await putAll(store, deadLetters(15), signal);
    assert.equal(await total(), 15);
    await adminOf(store).delete(["e0003"], signal);
    assert.equal(await total(), 14);
  }),
  "an aborted count by groups rejects with the signal's reason": assertAborts((store, signal) =>
    facetsOf(store, {}, signal),
  ),
} as const satisfies Record<string, DlqPartCheck>;

/** `value, value: count`, in order. */
function counts({ groups }: Facets): readonly string[] {
  return groups.map(({ key, count }) => `${Object.values(key).join(", ")}: ${count}`).toSorted();
}

function expectedCounts(by: readonly FacetKey[], query: DeadLetterQuery): readonly string[] {
  const found = new Map<string, number>();
  for (const head of VARIED_HEADS) {
    if (!matchesQuery(head, query)) continue;
    const key = by.map((name) => (name === "assignee" ? (head.marks?.assignee ?? "") : head[name])).join(", ");
    found.set(key, (found.get(key) ?? 0) + 1);
  }
  return [...found].map(([key, count]) => `${key}: ${count}`).toSorted();
}

function sum({ groups }: Facets): number {
  return groups.reduce((total, { count }) => total + count, 0);
}
