import assert from "node:assert/strict";
import type { DeadLetterQuery, DlqStore, Facets, MarkChange } from "@bridge/ports";
import { adminOf, withStore } from "./check.ts";
import { at } from "./dead-letters.ts";
import { dice } from "./dice.ts";
import type { DlqPartCheck } from "./dlq-parts-subject.ts";
import { fillVaried, QUERIES, redriven, VARIED } from "./marked-entries.ts";
import { facetsOf, later, marksOf, trashOf, walk } from "./parts.ts";

const ROUNDS = 8;
/** Of each round. */
const ASKED = 4;
const BATCH = "purged";

/** Behind the last of them, and among them. */
const BEFORE = [at(1_000), at(12)] as const;

type Roll = (sides: number) => number;

/** What a redrive counts of a filter: what had failed when it was planned, and is not kept back. */
function planned(query: DeadLetterQuery, roll: Roll): DeadLetterQuery {
  return { quarantined: false, ...query, before: Math.min(query.before ?? Infinity, BEFORE[roll(2)] ?? 0) };
}

/** Counts by which jobs are planned: one that is called exact is that. */
export const EXACT_COUNT_CHECKS = {
  "a count that is exact has what is listed, of each filter of a redrive, whatever is marked, deleted and taken back":
    withStore(async (store, signal) => {
      await fillVaried(store, signal);
      const roll = dice(7);
      for (let round = 0; round < ROUNDS; round++) {
        await change(store, roll, signal);
        for (let asked = 0; asked < ASKED; asked++) {
          const query = planned(QUERIES[roll(QUERIES.length)] ?? {}, roll);
          const facets = await counted(store, query, signal);
          const heads = await walk(store, query, {}, signal);
          const what = `round ${round}, ${JSON.stringify(query)}`;
          assert.equal(facets.exact, true, what);
          assert.equal(facets.total, heads.length, what);
          const byRoute = Map.groupBy(heads, ({ routeId }) => routeId);
          const groups = facets.groups.map(({ key, count }): [string, number] => [key.routeId ?? "", count]);
          assert.deepEqual(new Map(groups), new Map([...byRoute].map(([route, of]) => [route, of.length])), what);
          assert.equal(facets.oldestFailedAt, heads[0]?.failedAt, what);
          assert.equal(facets.newestFailedAt, heads.at(-1)?.failedAt, what);
        }
      }
    }),
  "a count that is exact has each entry once, as it was or as it is, while entries are quarantined and let go":
    withStore(async (store, signal) => {
      await fillVaried(store, signal);
      const ids = VARIED.map(({ id }) => id);
      await marksOf(store).mark(each(ids, { quarantined: false }), signal);
      const changing = ids.filter((_, i) => i % 3 === 0);
      for (const quarantined of [true, false, true, false]) {
        const marking = marksOf(store).mark(each(changing, { quarantined }), signal);
        const [all, free] = await Promise.all([
          counted(store, { before: BEFORE[0] }, signal),
          counted(store, { before: BEFORE[0], quarantined: false }, signal),
        ]);
        await marking;
        assert.equal(all.total, ids.length);
        assert.ok(free.total <= ids.length && free.total >= ids.length - changing.length, `${free.total} are free`);
        const settled = await counted(store, { before: BEFORE[0], quarantined: false }, signal);
        assert.equal(settled.total, ids.length - (quarantined ? changing.length : 0));
      }
    }),
} as const satisfies Record<string, DlqPartCheck>;

function counted(store: DlqStore, query: DeadLetterQuery, signal: AbortSignal): Promise<Facets> {
  return facetsOf(store, { by: ["routeId"], query, fresh: true }, signal);
}

/** Something of all that changes what a redrive counts. */
async function change(store: DlqStore, roll: Roll, signal: AbortSignal): Promise<void> {
  const some = (): readonly string[] => VARIED.map(({ id }) => id).filter(() => roll(4) === 0);
  await marksOf(store).mark(each(some(), { quarantined: true }), signal);
  await marksOf(store).mark(each(some(), { quarantined: false, assignee: roll(2) === 0 ? "alice" : "" }), signal);
  await marksOf(store).mark(each(some(), { redriven: redriven("job-2") }), signal);
  await trashOf(store).move(some(), BATCH, later(), signal);
  if (roll(2) === 0) await trashOf(store).restore(BATCH, 10, signal);
  // Written again, they have no marks.
  for (const id of some().slice(0, 3)) {
    await adminOf(store).delete([id], signal);
    const entry = VARIED.find((one) => one.id === id);
    if (entry !== undefined) await store.put(entry, signal);
  }
}

function each(ids: readonly string[], marks: MarkChange): ReadonlyMap<string, MarkChange> {
  return new Map(ids.map((id) => [id, marks]));
}
