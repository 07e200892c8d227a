import assert from "node:assert/strict";
import type { DeadLetter, DeadLetterFilter } from "@bridge/ports";
import { adminOf, assertSame, type DlqCheck, idsOf, putAll, withStore, withTwo } from "./check.ts";
import { at, deadLetter, deadLetters, ENTRIES, idsWhere, shuffled } from "./dead-letters.ts";

/** The deleting half. */
export const DELETING_CHECKS = {
  "deletes entries and tells which were there": withStore(async (store, signal) => {
    await putAll(store, ENTRIES, signal);
    const gone = await adminOf(store).delete(["e0003", "unknown", "e0001", "e0003"], signal);
    assert.deepEqual([...gone].toSorted(), ["e0001", "e0003"]);
    assert.equal(await store.get("e0001", signal), undefined);
    assert.deepEqual(
      await idsOf(store, signal),
      idsWhere(({ id }) => id !== "e0001" && id !== "e0003"),
    );
    assert.equal(await store.count(1000, signal), 28);
    assertSame(await store.get("e0002", signal), ENTRIES[2] as DeadLetter);
  }),
  "an entry that is gone is not deleted again": withStore(async (store, signal) => {
    await putAll(store, ENTRIES, signal);
    await adminOf(store).delete(["e0001"], signal);
    assert.deepEqual(await adminOf(store).delete(["e0001"], signal), new Set());
  }),
  "deletes nothing when given nothing": withStore(async (store, signal) => {
    await putAll(store, ENTRIES, signal);
    assert.deepEqual(await adminOf(store).delete([], signal), new Set());
    assert.equal(await store.count(1000, signal), 30);
  }),
  "deletes 1,000 entries at once": withStore(async (store, signal) => {
    const entries = deadLetters(1_001);
    await putAll(store, entries, signal);
    const ids = entries.slice(0, 1_000).map(({ id }) => id);
    assert.deepEqual(new Set(await adminOf(store).delete(ids, signal)), new Set(ids));
    assert.deepEqual(await idsOf(store, signal), ["e1000"]);
  }),
  "a deleted entry can be written again": withStore(async (store, signal) => {
    await store.put(deadLetter("a", { reason: "first" }), signal);
    await adminOf(store).delete(["a"], signal);
    const again = deadLetter("a", { reason: "again" });
    await store.put(again, signal);
    assertSame(await store.get("a", signal), again);
  }),
  "of callers that race, one is told that it deleted an entry": withTwo(async (one, other, signal) => {
    const ids = ENTRIES.map(({ id }) => id);
    await putAll(one, ENTRIES, signal);
    const results = await Promise.all(
      [one, other, one, other].map((store, i) => adminOf(store).delete(i < 2 ? ids : ids.toReversed(), signal)),
    );
    assert.deepEqual(results.flatMap((gone) => [...gone]).toSorted(), ids);
    assert.deepEqual(await idsOf(one, signal), []);
  }),
  "deletes what matches, and tells how many": matching({ routeId: "route-1" }, ({ routeId }) => routeId === "route-1"),
  "deletes a category": matching({ category: "rejected" }, ({ category }) => category === "rejected"),
  "deletes what failed at or after since": matching({ since: at(10) }, (_, i) => i >= 10),
  "deletes what failed before before": matching({ before: at(10) }, (_, i) => i < 10),
  "deletes what all filters match": matching(
    { routeId: "route-0", category: "permanent", since: at(4), before: at(28) },
    ({ routeId, category }, i) => routeId === "route-0" && category === "permanent" && i >= 4 && i < 28,
  ),
  "deletes all with an empty filter and no limit": matching({}, () => true),
  "deletes nothing when nothing matches": matching({ routeId: "unknown" }, () => false),
  "deletes the oldest up to the limit": withStore(async (store, signal) => {
    await putAll(store, shuffled(ENTRIES), signal);
    assert.equal(await adminOf(store).deleteWhere({}, 4, signal), 4);
    assert.deepEqual(
      await idsOf(store, signal),
      idsWhere((_, i) => i >= 4),
    );
    assert.equal(await adminOf(store).deleteWhere({ routeId: "route-1" }, 2, signal), 2);
    assert.deepEqual(
      await idsOf(store, signal),
      idsWhere((_, i) => i >= 4 && i !== 5 && i !== 7),
    );
    assert.equal(await adminOf(store).deleteWhere({}, 100, signal), 24);
  }),
  "a limit of 0 deletes nothing": withStore(async (store, signal) => {
    await putAll(store, ENTRIES, signal);
    assert.equal(await adminOf(store).deleteWhere({}, 0, signal), 0);
    assert.equal(await store.count(1000, signal), 30);
  }),
  "of filters that race, each entry is counted once": withTwo(async (one, other, signal) => {
    await putAll(one, ENTRIES, signal);
    const counts = await Promise.all([
      adminOf(one).deleteWhere({}, undefined, signal),
      adminOf(other).deleteWhere({ since: at(3) }, undefined, signal),
      adminOf(one).deleteWhere({ routeId: "route-0" }, 10, signal),
    ]);
    assert.equal(
      counts.reduce((sum, count) => sum + count),
      30,
    );
    assert.equal(await one.count(1000, signal), 0);
  }),
} as const satisfies Record<string, DlqCheck>;

function matching(filter: DeadLetterFilter, gone: (entry: DeadLetter, index: number) => boolean): DlqCheck {
  return withStore(async (store, signal) => {
    await putAll(store, shuffled(ENTRIES), signal);
    assert.equal(await adminOf(store).deleteWhere(filter, undefined, signal), idsWhere(gone).length);
    assert.deepEqual(
      await idsOf(store, signal),
      idsWhere((entry, i) => !gone(entry, i)),
    );
  });
}
