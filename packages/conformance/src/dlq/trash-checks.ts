import assert from "node:assert/strict";
import type { DeadLetter, DlqStore } from "@bridge/ports";
import { adminOf, assertAborts, assertSame, idsOf, putAll, withRestart, withStore, withTwo } from "./check.ts";
import { at, deadLetter, deadLetters, ENTRIES } from "./dead-letters.ts";
import type { DlqPartCheck } from "./dlq-parts-subject.ts";
import { fillVaried, MARKS, VARIED } from "./marked-entries.ts";
import { facetsOf, jobsOf, later, marksOf, plain, trashOf, walk } from "./parts.ts";

/** The trash. */
export const TRASH_CHECKS = {
  "tells which entries were there": withStore(async (store, signal) => {
    await putAll(store, ENTRIES, signal);
    const moved = await trashOf(store).move(["e0003", "unknown", "e0001", "e0003"], "b", later(), signal);
    assert.deepEqual([...moved].toSorted(), ["e0001", "e0003"]);
    assert.deepEqual(await trashOf(store).move(["e0001"], "b", later(), signal), new Set());
    assert.deepEqual(await trashOf(store).move([], "b", later(), signal), new Set());
    assert.equal(await trashOf(store).count(100, signal), 2);
  }),
  "operators 1.5: trash is in no list, count, facet or get, and can be neither deleted nor marked": withStore(
    async (store, signal) => {
      await fillVaried(store, signal);
      const gone = VARIED.slice(0, 20).map(({ id }) => id);
      const rest = VARIED.slice(20).map(({ id }) => id);
      await trashOf(store).move(gone, "batch", later(), signal);
      assert.deepEqual((await idsOf(store, signal)).toSorted(), rest.toSorted());
      assert.equal(await store.count(100, signal), rest.length);
      for (const id of gone) assert.equal(await store.get(id, signal), undefined);
      if (store.page !== undefined) {
        const paged = (await walk(store, {}, {}, signal)).map(({ id }) => id);
        assert.deepEqual(paged.toSorted(), rest.toSorted());
        const { correlationId } = VARIED[1] as DeadLetter;
        const alike = (await walk(store, { correlationId }, {}, signal)).map(({ id }) => id);
        assert.ok(!alike.includes(VARIED[1]?.id ?? ""), "a filter finds what is in the trash");
      }
      if (store.facets !== undefined) {
        assert.equal((await facetsOf(store, {}, signal)).total, rest.length);
        assert.equal((await facetsOf(store, { query: { subjectPrefix: "" } }, signal)).total, rest.length);
      }
      assert.deepEqual(await adminOf(store).delete(gone, signal), new Set());
      const changes = new Map(gone.map((id) => [id, { assignee: "alice" }]));
      assert.deepEqual(new Set(await marksOf(store).mark(changes, signal)), new Set());
      assert.equal(await adminOf(store).deleteWhere({}, undefined, signal), rest.length);
      assert.equal(await trashOf(store).count(100, signal), gone.length);
    },
  ),
  "operators 1.5: restore gives back byte-identical entries with their marks": withStore(async (store, signal) => {
    await fillVaried(store, signal);
    const bytes = deadLetter("bytes", { envelope: { payload: Uint8Array.from({ length: 256 }, (_, i) => i) } });
    const odd = deadLetter("odd", {
      causationId: "before",
      redrives: 3,
      envelope: { headers: { "": "", "a.b": 'é"\\' }, expiresAt: at(9) },
    });
    await putAll(store, [bytes, odd], signal);
    const entries = [...VARIED, bytes, odd];
    const before = await Promise.all(entries.map(({ id }) => store.get(id, signal)));
    const listed = await store.list({}, { limit: 100, offset: 0 }, signal);
    const ids = entries.map(({ id }) => id);
    assert.equal((await trashOf(store).move(ids, "batch", later(), signal)).size, ids.length);
    assert.equal(await store.count(100, signal), 0);
    await restoreAll(store, "batch", ids.length, 25, signal);
    for (const [i, entry] of entries.entries()) {
      const after = await store.get(entry.id, signal);
      assertSame(after, before[i] as DeadLetter);
      assert.deepEqual(plain(after?.marks), plain(before[i]?.marks));
      assert.equal(after?.marks === undefined, !MARKS.has(entry.id));
    }
    assert.deepEqual(await store.list({}, { limit: 100, offset: 0 }, signal), listed);
    if (store.facets !== undefined) assert.equal((await facetsOf(store, {}, signal)).total, ids.length);
    assert.equal(await trashOf(store).count(100, signal), 0);
  }),
  "restores one batch only, up to the limit": withStore(async (store, signal) => {
    await putAll(store, deadLetters(6), signal);
    const trash = trashOf(store);
    await trash.move(["e0000", "e0001", "e0002"], "one", later(), signal);
    await trash.move(["e0003", "e0004"], "other", later(), signal);
    assert.deepEqual(await trash.restore("one", 2, signal), { restored: 2, present: 0 });
    assert.equal(await store.count(10, signal), 3);
    assert.deepEqual(await trash.restore("one", 2, signal), { restored: 1, present: 0 });
    assert.deepEqual(await trash.restore("one", 2, signal), { restored: 0, present: 0 });
    assert.deepEqual(await trash.restore("unknown", 2, signal), { restored: 0, present: 0 });
    assert.deepEqual(await idsOf(store, signal), ["e0000", "e0001", "e0002", "e0005"]);
    assert.equal(await trash.count(10, signal), 2);
    assert.equal(await trash.count(1, signal), 1);
  }),
  "counts one batch, as it goes and comes": withStore(async (store, signal) => {
    await putAll(store, deadLetters(8), signal);
    const trash = trashOf(store);
    await trash.move(["e0000", "e0001", "e0002"], "one", later(), signal);
    await trash.move(["e0003", "e0004"], "one/", later(), signal);
    assert.equal(await trash.count(10, signal, "one"), 3);
    assert.equal(await trash.count(2, signal, "one"), 2);
    assert.equal(await trash.count(10, signal, "one/"), 2);
    assert.equal(await trash.count(10, signal, "unknown"), 0);
    await trash.restore("one", 2, signal);
    assert.equal(await trash.count(10, signal, "one"), 1);
    assert.equal(await trash.count(10, signal), 3);
  }),
  "what is over its time is not there any more": withStore(async (store, signal) => {
    await putAll(store, deadLetters(3), signal);
    const trash = trashOf(store);
    await trash.move(["e0000"], "batch", Date.now() - 1, signal);
    await trash.move(["e0001"], "batch", later(), signal);
    assert.equal(await trash.count(10, signal), 1);
    assert.equal(await trash.count(10, signal, "batch"), 1);
    await restoreAll(store, "batch", 1, 10, signal);
    assert.deepEqual(await idsOf(store, signal), ["e0001", "e0002"]);
  }),
  "operators 4.10.5: what is being taken back is in time until that is over": withStore(async (store, signal) => {
    const trash = trashOf(store);
    const jobs = jobsOf(store);
    const job = (id: string, state: string, revision: number) =>
      jobs.put(
        { id, revision, state, createdAt: at(0), document: "{}" },
        revision === 1 ? undefined : revision - 1,
        signal,
      );
    await putAll(store, deadLetters(4), signal);
    await job("job-1", "undoing", 1);
    await job("job-2", "completed", 1);
    await trash.move(["e0000", "e0001"], "job-1", Date.now() - 1, signal);
    await trash.move(["e0002"], "job-2", Date.now() - 1, signal);
    await store.put(deadLetter("e0001", { reason: "again" }), signal);
    assert.equal(await trash.count(10, signal, "job-1"), 2);
    assert.equal(await trash.count(10, signal, "job-2"), 0);
    assert.deepEqual(await trash.restore("job-2", 10, signal), { restored: 0, present: 0 });
    assert.deepEqual(await trash.restore("job-1", 10, signal), { restored: 1, present: 1 });
    await trash.move(["e0000"], "job-1", Date.now() - 1, signal);
    await job("job-1", "undone", 2);
    assert.equal(await trash.count(10, signal, "job-1"), 0);
    assert.deepEqual(await trash.restore("job-1", 10, signal), { restored: 0, present: 0 });
    assert.deepEqual(await idsOf(store, signal), ["e0001", "e0003"]);
  }),
  "a restored entry can be deleted and moved again": withStore(async (store, signal) => {
    await store.put(deadLetter("a"), signal);
    for (const batch of ["one", "two", "two"]) {
      assert.equal((await trashOf(store).move(["a"], batch, later(), signal)).size, 1);
      await restoreAll(store, batch, 1, 10, signal);
    }
    assert.deepEqual(await adminOf(store).delete(["a"], signal), new Set(["a"]));
  }),
  "operators 4.10.5: what is delivered is erased from the trash, too, whatever batch has it": withStore(
    async (store, signal) => {
      const trash = trashOf(store);
      await putAll(store, deadLetters(4), signal);
      await trash.move(["e0000", "e0001"], "one", later(), signal);
      await store.put(deadLetter("e0000", { reason: "again" }), signal);
      await trash.move(["e0000", "e0002"], "two", later(), signal);
      await store.put(deadLetter("e0000", { reason: "once more" }), signal);
      const gone = await adminOf(store).delete(["e0000", "e0002", "unknown"], signal, { delivered: true });
      assert.deepEqual(gone, new Set(["e0000"]));
      assert.equal(await trash.count(10, signal), 1);
      assert.deepEqual(await trash.restore("two", 10, signal), { restored: 0, present: 0 });
      await restoreAll(store, "one", 1, 10, signal);
      assert.deepEqual(await idsOf(store, signal), ["e0001", "e0003"]);
    },
  ),
  "operators 4.10.5: what is delivered while it is moved to the trash, or back, is not there any more": withTwo(
    async (one, other, signal) => {
      for (const way of ["there", "back"]) {
        const ids = ENTRIES.map(({ id }) => id);
        await putAll(one, ENTRIES, signal);
        if (way === "back") await trashOf(one).move(ids, way, later(), signal);
        const delivers = (some: readonly string[]) => adminOf(other).delete(some, signal, { delivered: true });
        await Promise.all([
          way === "there" ? trashOf(one).move(ids, way, later(), signal) : trashOf(one).restore(way, 1_000, signal),
          ...ids.map((id) => delivers([id])),
        ]);
        assert.deepEqual(await trashOf(one).restore(way, 1_000, signal), { restored: 0, present: 0 });
        assert.deepEqual(await idsOf(one, signal), []);
        assert.equal(await trashOf(one).count(10, signal), 0);
      }
    },
  ),
  "of callers that race, one is told that it took an entry": withTwo(async (one, other, signal) => {
    const ids = ENTRIES.map(({ id }) => id);
    await putAll(one, ENTRIES, signal);
    const results = await Promise.all([
      trashOf(one).move(ids, "batch", later(), signal),
      trashOf(other).move(ids.toReversed(), "batch", later(), signal),
      adminOf(one).delete(ids, signal),
    ]);
    assert.deepEqual(results.flatMap((gone) => [...gone]).toSorted(), ids);
    const moved = (results[0]?.size ?? 0) + (results[1]?.size ?? 0);
    assert.equal(await trashOf(other).count(100, signal), moved);
  }),
  "of restores that race, each entry is counted once": withTwo(async (one, other, signal) => {
    const ids = ENTRIES.map(({ id }) => id);
    await putAll(one, ENTRIES, signal);
    await trashOf(one).move(ids, "batch", later(), signal);
    const counts = await Promise.all([one, other, one].map((store) => trashOf(store).restore("batch", 20, signal)));
    const rest = await trashOf(one).restore("batch", 100, signal);
    assert.equal(
      counts.reduce((sum, { restored }) => sum + restored, rest.restored),
      ids.length,
    );
    assert.deepEqual(await idsOf(one, signal), ids);
  }),
  "the trash survives an abrupt end": withRestart(
    async (store, signal) => {
      await putAll(store, deadLetters(3), signal);
      await trashOf(store).move(["e0000", "e0001"], "batch", later(), signal);
      await trashOf(store).restore("batch", 1, signal);
    },
    async (store, signal) => {
      assert.equal(await store.count(10, signal), 2);
      await restoreAll(store, "batch", 1, 10, signal);
      for (const entry of deadLetters(3)) assertSame(await store.get(entry.id, signal), entry);
    },
  ),
  "an aborted move rejects with the signal's reason and moves nothing": assertAborts((store, signal) =>
    trashOf(store).move(["e0000"], "batch", later(), signal),
  ),
  "an aborted restore rejects with the signal's reason": assertAborts((store, signal) =>
    trashOf(store).restore("batch", 10, signal),
  ),
} as const satisfies Record<string, DlqPartCheck>;

/** Until none is left, which have to be so many. */
async function restoreAll(
  store: DlqStore,
  batch: string,
  expected: number,
  limit: number,
  signal: AbortSignal,
): Promise<void> {
  let restored = 0;
  for (;;) {
    const count = await trashOf(store).restore(batch, limit, signal);
    assert.ok(count.restored <= limit, `${count.restored} were restored, with a limit of ${limit}`);
    assert.equal(count.present, 0);
    restored += count.restored;
    if (count.restored === 0) break;
  }
  assert.equal(restored, expected);
}
