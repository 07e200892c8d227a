import assert from "node:assert/strict";
import type {
  DeadLetter,
  DeadLetterHead,
  DeadLetterOrder,
  DeadLetterPosition,
  DeadLetterQuery,
  DlqStore,
} from "@bridge/ports";
import { matchesQuery } from "@bridge/ports/internal";
import { adminOf, assertAborts, putAll, withStore } from "./check.ts";
import { at, deadLetter, deadLetters, ENTRIES } from "./dead-letters.ts";
import { dice } from "./dice.ts";
import type { DlqPartCheck } from "./dlq-parts-subject.ts";
import { fillVaried, QUERIES, VARIED_HEADS } from "./marked-entries.ts";
import { pageOf, walk } from "./parts.ts";

/** Some put at a time, so that a store on a service is not flooded. */
const AT_ONCE = 100;

/** Pages by key. */
export const PAGING_CHECKS = {
  "pages oldest first and newest first, by the time of failure and then by id": withStore(async (store, signal) => {
    await fillVaried(store, signal);
    for (const limit of [4, 59, 60, 61]) {
      const oldest = await walk(store, {}, { limit }, signal);
      assert.deepEqual(oldest.map(idOf), idsOf({}, "oldest"));
      const newest = await walk(store, {}, { limit, order: "newest" }, signal);
      assert.deepEqual(newest.map(idOf), idsOf({}, "newest"));
    }
  }),
  "a page shows everything of an entry but its envelope, marks too": withStore(async (store, signal) => {
    await fillVaried(store, signal);
    assert.deepEqual(plain(await walk(store, {}, {}, signal)), plain(VARIED_HEADS));
  }),
  "the last page has no next, also when it is full": withStore(async (store, signal) => {
    await putAll(store, ENTRIES, signal);
    const first = await pageOf(store, {}, { limit: 15 }, signal);
    assert.deepEqual({ ...first.next }, { failedAt: at(14), id: "e0014" });
    const second = await pageOf(store, {}, { limit: 15, after: first.next }, signal);
    assert.equal(second.entries.length, 15);
    assert.equal(second.next, undefined);
  }),
  "pages through each filter, both ways": withStore(async (store, signal) => {
    await fillVaried(store, signal);
    for (const query of QUERIES)
      for (const order of ["oldest", "newest"] as const)
        for (const limit of [9, 100]) {
          const ids = (await walk(store, query, { limit, order }, signal)).map(idOf);
          assert.deepEqual(ids, idsOf(query, order), `${JSON.stringify(query)}, ${order} first`);
        }
  }),
  "a page looks at no more heads than its budget, and the next goes on there": withStore(async (store, signal) => {
    await fillVaried(store, signal);
    for (const query of QUERIES)
      for (const order of ["oldest", "newest"] as const) {
        const ids = (await walk(store, query, { budget: 17, order }, signal)).map(idOf);
        assert.deepEqual(ids, idsOf(query, order), `${JSON.stringify(query)}, ${order} first`);
      }
  }),
  "operators 1.5: a cursor whose entry was deleted goes on at the right place": withStore(async (store, signal) => {
    await putAll(store, deadLetters(10), signal);
    const { next } = await pageOf(store, {}, { limit: 4 }, signal);
    await adminOf(store).delete(["e0003", "e0004"], signal);
    const forward = await pageOf(store, {}, { after: next }, signal);
    assert.deepEqual(forward.entries.map(idOf), ["e0005", "e0006", "e0007", "e0008", "e0009"]);
    const back = await pageOf(store, {}, { after: next, order: "newest" }, signal);
    assert.deepEqual(back.entries.map(idOf), ["e0002", "e0001", "e0000"]);
  }),
  "a cursor of an entry that was never there is a place all the same": withStore(async (store, signal) => {
    await putAll(store, deadLetters(4), signal);
    const { entries } = await pageOf(store, {}, { after: { failedAt: at(1), id: "e0001!" } }, signal);
    assert.deepEqual(entries.map(idOf), ["e0002", "e0003"]);
  }),
  "operators 1.5: paging forward and back over many entries of one time gives each once, while others are put and deleted":
    async (subject, signal) => {
      await using store = await subject.open();
      const staying = Array.from({ length: subject.many ?? 10_000 }, (_, i) => sameTime(`s${digits(i)}`));
      await inGroups(staying, (group) => putAll(store, group, signal));
      const ids = staying.map(idOf);
      const roll = dice();
      const change = busybody(store, roll, staying.length, signal);
      const forward = await walkMeanwhile(store, "oldest", { roll, change }, signal);
      assertEachOnce(forward, ids);
      const backward = await walkMeanwhile(store, "newest", { roll, change }, signal);
      assertEachOnce(backward, ids.toReversed());
      // Turned round in the middle: what was behind is before, and nothing is missing between.
      const turn = { failedAt: at(5), id: ids[roll(ids.length)] ?? "" };
      const behind = await walkMeanwhile(store, "oldest", { roll, change, after: turn }, signal);
      const before = await walkMeanwhile(store, "newest", { roll, change, after: turn }, signal);
      assertEachOnce([...before.toReversed(), turn.id, ...behind], ids);
    },
  "an aborted page rejects with the signal's reason": assertAborts((store, signal) => pageOf(store, {}, {}, signal)),
} as const satisfies Record<string, DlqPartCheck>;

function idsOf(query: DeadLetterQuery, order: DeadLetterOrder): readonly string[] {
  const ids = VARIED_HEADS.filter((head) => matchesQuery(head, query)).map(idOf);
  return order === "oldest" ? ids : ids.toReversed();
}

function idOf({ id }: { readonly id: string }): string {
  return id;
}

/** Without what is `undefined`. */
function plain(heads: readonly DeadLetterHead[]): unknown {
  return JSON.parse(
    JSON.stringify(
      heads.map((head) => Object.fromEntries(Object.entries(head).toSorted(([a], [b]) => (a < b ? -1 : 1)))),
    ),
  );
}

function digits(number: number): string {
  return String(number).padStart(6, "0");
}

function sameTime(id: string): DeadLetter {
  return deadLetter(id, { failedAt: at(5) });
}

async function inGroups<T>(items: readonly T[], work: (group: readonly T[]) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < items.length; start += AT_ONCE) await work(items.slice(start, start + AT_ONCE));
}

/** Puts entries of the same time between those that stay, and deletes them again. */
function busybody(
  store: DlqStore,
  roll: (sides: number) => number,
  places: number,
  signal: AbortSignal,
): () => Promise<void> {
  let others: string[] = [];
  let made = 0;
  return async () => {
    const added = Array.from({ length: 1 + roll(5) }, () => `s${digits(roll(places))}-${made++}`);
    await putAll(store, added.map(sameTime), signal);
    others.push(...added);
    const gone = others.filter(() => roll(3) === 0);
    await adminOf(store).delete(gone, signal);
    others = others.filter((id) => !gone.includes(id));
  };
}

async function walkMeanwhile(
  store: DlqStore,
  order: DeadLetterOrder,
  by: {
    readonly roll: (sides: number) => number;
    readonly change: () => Promise<void>;
    readonly after?: DeadLetterPosition;
  },
  signal: AbortSignal,
): Promise<readonly string[]> {
  const ids: string[] = [];
  let { after } = by;
  do {
    const [page] = await Promise.all([
      pageOf(store, {}, { order, after, limit: 1 + by.roll(400) }, signal),
      by.roll(3) === 0 ? by.change() : undefined,
    ]);
    ids.push(...page.entries.map(idOf));
    after = page.next;
  } while (after !== undefined);
  return ids;
}

/** Those that stayed all the while, in this order; of the others none twice. */
function assertEachOnce(seen: readonly string[], stayed: readonly string[]): void {
  const known = new Set(stayed);
  assert.deepEqual(
    seen.filter((id) => known.has(id)),
    stayed,
  );
  assert.equal(new Set(seen).size, seen.length, "an entry was shown twice");
}
