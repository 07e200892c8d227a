import assert from "node:assert/strict";
import {
  type DeadLetterMarks,
  type DlqStore,
  type MarkChange,
  marked,
  mergedMarks,
  type TakenBack,
} from "@bridge/ports";
import { adminOf, assertSame, idsOf, putAll, withStore, withTwo } from "./check.ts";
import { at, deadLetter, deadLetters, ENTRIES } from "./dead-letters.ts";
import { dice } from "./dice.ts";
import type { DlqPartCheck } from "./dlq-parts-subject.ts";
import { Interleaving } from "./interleaving.ts";
import { redriven } from "./marked-entries.ts";
import { later, marksOf, plain, trashOf } from "./parts.ts";

const COURSES = 12;
const STEPS = 30;

/** What comes back out of the trash where its id has been written again. */
export const TAKING_BACK_CHECKS = {
  "an id that is in the trash can be written again, and then that entry stays": withStore(async (store, signal) => {
    await store.put(deadLetter("a", { reason: "first" }), signal);
    await trashOf(store).move(["a"], "batch", later(), signal);
    const again = deadLetter("a", { reason: "again" });
    await store.put(again, signal);
    await store.put(deadLetter("a", { reason: "once more" }), signal);
    assertSame(await store.get("a", signal), again);
    assert.equal(await trashOf(store).count(10, signal), 1);
    assert.deepEqual(await trashOf(store).restore("batch", 10, signal), { restored: 0, present: 1 });
    assertSame(await store.get("a", signal), again);
    assert.deepEqual(await idsOf(store, signal), ["a"]);
    assert.equal(await trashOf(store).count(10, signal), 0);
    assert.deepEqual(await trashOf(store).restore("batch", 10, signal), { restored: 0, present: 0 });
  }),
  "of an entry that was written again the marks of both are there": withStore(async (store, signal) => {
    const before: readonly MarkChange[] = [
      { note: note(1, "asked the shop"), quarantined: true, assignee: "alice" },
      { note: note(5, "it is the shop's"), redriven: redriven("job-1") },
    ];
    const after: readonly MarkChange[] = [{ note: note(3, "here it is again") }, { note: note(1, "asked the shop") }];
    for (const [id, there_] of [
      ["a", after],
      ["b", [...after, { assignee: "bob", redriven: { ...redriven("job-2"), lastAt: at(200) } }]],
      ["c", []],
    ] as const) {
      await store.put(deadLetter(id, { reason: "first" }), signal);
      const trashed = await markAll(store, id, before, signal);
      await trashOf(store).move([id], id, later(), signal);
      const again = deadLetter(id, { reason: "again", failedAt: at(9) });
      await store.put(again, signal);
      assert.equal((await store.get(id, signal))?.marks, undefined);
      const there = await markAll(store, id, there_, signal);
      assert.deepEqual(await trashOf(store).restore(id, 10, signal), { restored: 0, present: 1 });
      await assertMarks(store, id, mergedMarks(there, trashed), signal);
      assertSame({ ...(await store.get(id, signal)), marks: undefined } as never, again);
    }
    const { marks } = (await store.get("b", signal)) ?? {};
    assert.equal(marks?.assignee, "bob");
    assert.equal(marks.quarantined, true);
    assert.deepEqual(
      marks.notes?.map(({ at: when }) => when),
      [at(1), at(3), at(5)],
    );
  }),
  "an entry that was written again and is gone by then comes back as it was": withStore(async (store, signal) => {
    const first = deadLetter("a", { reason: "first" });
    await store.put(first, signal);
    const marks = await markAll(store, "a", [{ note: note(1, "first"), quarantined: true }], signal);
    await trashOf(store).move(["a"], "batch", later(), signal);
    await store.put(deadLetter("a", { reason: "again" }), signal);
    await markAll(store, "a", [{ note: note(2, "again") }], signal);
    await adminOf(store).delete(["a"], signal);
    assert.equal(await store.get("a", signal), undefined);
    assert.deepEqual(await trashOf(store).restore("batch", 10, signal), { restored: 1, present: 0 });
    await assertMarks(store, "a", marks, signal);
    assertSame({ ...(await store.get("a", signal)), marks: undefined } as never, first);
    assert.equal(await trashOf(store).count(10, signal), 0);
  }),
  "an entry that was purged twice has the marks of both, whichever batch comes back first": withStore(
    async (store, signal) => {
      for (const order of [
        ["one", "two"],
        ["two", "one"],
        ["same", "same"],
      ] as const) {
        const changes: readonly MarkChange[] = [
          { note: note(1, "one"), quarantined: true },
          { note: note(2, "two"), assignee: "bob" },
        ];
        const batches = order[0] === "same" ? order : ["one", "two"];
        const marks: (DeadLetterMarks | undefined)[] = [];
        for (const [i, change] of changes.entries()) {
          await store.put(deadLetter("a", { reason: `the ${i}th` }), signal);
          marks.push(await markAll(store, "a", [change], signal));
          await trashOf(store).move(["a"], batches[i] ?? "", later(), signal);
        }
        const counts: TakenBack[] = [];
        for (const batch of order) counts.push(await drained(store, batch, 1, signal));
        assert.equal(
          counts.reduce((sum, { restored }) => sum + restored, 0),
          1,
        );
        await assertMarks(store, "a", mergedMarks(marks[1], marks[0]), signal);
        // Of one batch it is the later entry, else that of the batch that came back first.
        assert.equal((await store.get("a", signal))?.reason, order[0] === "one" ? "the 0th" : "the 1th");
        await adminOf(store).delete(["a"], signal);
        assert.equal(await trashOf(store).count(10, signal), 0);
      }
    },
  ),
  "tells of a batch how many were restored and how many were there": withStore(async (store, signal) => {
    await putAll(store, deadLetters(30), signal);
    const ids = deadLetters(30).map(({ id }) => id);
    await trashOf(store).move(ids, "batch", later(), signal);
    await putAll(
      store,
      deadLetters(30).filter((_, i) => i % 3 === 0),
      signal,
    );
    const counts = { restored: 0, present: 0 };
    for (;;) {
      const before = (await idsOf(store, signal)).length;
      const { restored, present } = await trashOf(store).restore("batch", 4, signal);
      assert.ok(restored + present <= 4);
      assert.equal((await idsOf(store, signal)).length, before + restored);
      counts.restored += restored;
      counts.present += present;
      if (restored + present === 0) break;
    }
    assert.deepEqual(counts, { restored: 20, present: 10 });
    assert.deepEqual(await idsOf(store, signal), ids);
  }),
  "of entries that are marked and written again while they come back nothing is lost": withTwo(
    async (one, other, signal) => {
      const ids = ENTRIES.map(({ id }) => id);
      await putAll(one, ENTRIES, signal);
      const notes = (who: string) => new Map(ids.map((id, i) => [id, { note: { at: at(i), by: who, text: who } }]));
      await marksOf(one).mark(notes("before"), signal);
      await trashOf(one).move(ids, "batch", later(), signal);
      await putAll(
        one,
        ENTRIES.filter((_, i) => i % 2 === 0),
        signal,
      );
      const [, marked_, ...counts] = await Promise.all([
        putAll(
          other,
          ENTRIES.filter((_, i) => i % 2 === 1),
          signal,
        ),
        marksOf(other).mark(notes("meanwhile"), signal),
        trashOf(one).restore("batch", 20, signal),
        trashOf(other).restore("batch", 100, signal),
      ]);
      counts.push(await drained(one, "batch", 50, signal));
      assert.equal(
        counts.reduce((sum, { restored, present }) => sum + restored + present, 0),
        ids.length,
      );
      for (const id of ids) {
        const by = (await one.get(id, signal))?.marks?.notes?.map((each) => each.by).toSorted();
        assert.deepEqual(by, marked_.has(id) ? ["before", "meanwhile"] : ["before"]);
      }
      assert.equal(await trashOf(one).count(100, signal), 0);
    },
  ),
  "whatever is put, marked, moved and brought back in parts, by two and interrupted, no entry and no mark is lost":
    async (subject, signal) => {
      await using store = await subject.open();
      await using other = subject.second === undefined ? undefined : await subject.second(store);
      for (let run = 1; run <= (subject.courses ?? COURSES); run++) {
        const course = new Interleaving([store, other ?? store], `r${run}`, dice(run * 7_919), signal);
        for (let step = 0; step < STEPS; step++) await course.step();
        await course.end();
      }
    },
} as const satisfies Record<string, DlqPartCheck>;

/** Until none is left. */
async function drained(store: DlqStore, batch: string, limit: number, signal: AbortSignal): Promise<TakenBack> {
  const counts = { restored: 0, present: 0 };
  for (;;) {
    const { restored, present } = await trashOf(store).restore(batch, limit, signal);
    counts.restored += restored;
    counts.present += present;
    if (restored + present === 0) return counts;
  }
}

function note(index: number, text: string): NonNullable<MarkChange["note"]> {
  return { at: at(index), by: "alice", text };
}

/** Returns what the entry has then. */
async function markAll(
  store: DlqStore,
  id: string,
  changes: readonly MarkChange[],
  signal: AbortSignal,
): Promise<DeadLetterMarks | undefined> {
  let marks: DeadLetterMarks | undefined;
  for (const change of changes) {
    await marksOf(store).mark(new Map([[id, change]]), signal);
    marks = marked(marks, change);
  }
  return marks;
}

async function assertMarks(
  store: DlqStore,
  id: string,
  marks: DeadLetterMarks | undefined,
  signal: AbortSignal,
): Promise<void> {
  assert.deepEqual(plain((await store.get(id, signal))?.marks), plain(marks));
  const heads = await store.list({}, { limit: 100, offset: 0 }, signal);
  assert.deepEqual(plain(heads.find((head) => head.id === id)?.marks), plain(marks));
}
