import assert from "node:assert/strict";
import type { DeadLetterHead, DeadLetterQuery, DlqStore } from "@bridge/ports";
import { isSpoiled } from "@bridge/ports/internal";
import { adminOf, putAll } from "./check.ts";
import { at, deadLetters } from "./dead-letters.ts";
import type { DlqPartCheck } from "./dlq-parts-subject.ts";
import { facetsOf, marksOf, pageOf, walk } from "./parts.ts";
import { workThrough } from "./work-through.ts";

type Fields = { readonly [Field in keyof DeadLetterHead]?: unknown };

const OTHERS: readonly Fields[] = [
  { bindingId: "changed" },
  { category: "rejected" },
  { errorCode: "TIMEOUT" },
  { fingerprint: "changed" },
  { failedAt: at(9_000_000) },
  { failedAt: 1 },
];

/** A disk, or somebody, may have changed what is written of an entry, and not what it is found by. */
export const CHANGED_HEAD_CHECKS = {
  "an entry whose head says another route, or nothing, is found where it is told to be": async (subject, signal) => {
    for (const fields of [{ routeId: "changed" }, { failedAt: "never" }]) await changed(fields)(subject, signal);
  },
  "an entry whose head says another time, error or binding is found where it is told to be": async (
    subject,
    signal,
  ) => {
    for (const fields of OTHERS) await changed(fields)(subject, signal);
  },
  "an entry that somebody has moved into the future is found there: it is in no set up to now, and in what comes after":
    async (subject, signal) => {
      const moveInTime = subject.moveInTime?.bind(subject);
      assert.ok(moveInTime !== undefined, "the subject has no moveInTime: give one, or excuse the case");
      let moved = await subject.open();
      await putAll(moved, deadLetters(3), signal);
      const now = Date.now();
      for (const time of [now + 60_000, LATEST_DATE, Number.MAX_SAFE_INTEGER - 1])
        moved = await futureOf(await moveInTime(moved, "e0001", time), { now, time }, signal);
      await moved[Symbol.asyncDispose]();
    },
  "an entry whose id somebody has changed, or emptied, is told and named by that, and is spoiled": async (
    subject,
    signal,
  ) => {
    const rename = subject.rename?.bind(subject);
    assert.ok(rename !== undefined, "the subject has no rename: give one, or excuse the case");
    let renamed = await subject.open();
    await putAll(renamed, deadLetters(6), signal);
    const ids = new Set(deadLetters(6).map(({ id }) => id));
    for (const [nth, to] of OTHER_IDS.entries()) {
      const next = await rename(renamed, `e000${nth}`, to);
      renamed = next ?? renamed;
      if (next === undefined) continue;
      ids.delete(`e000${nth}`);
      ids.add(to);
    }
    await using store = renamed;
    assert.deepEqual(new Set((await walk(store, {}, { limit: 1 }, signal)).map(({ id }) => id)), ids);
    for (const id of OTHER_IDS) if (ids.has(id)) await assert.rejects(store.get(id, signal), isSpoiled);
    await workThrough(store, { count: 6 }, signal);
  },
} satisfies Readonly<Record<string, DlqPartCheck>>;

const OTHER_IDS = ["", " ", "x".repeat(300)];

/** Of JavaScript. */
const LATEST_DATE = 8_640_000_000_000_000;

async function futureOf(
  store: DlqStore,
  { now, time }: { readonly now: number; readonly time: number },
  signal: AbortSignal,
): Promise<DlqStore> {
  for (const order of ["oldest", "newest"] as const) {
    const idsOf = async (query: DeadLetterQuery): Promise<readonly string[]> =>
      (await walk(store, query, { order, limit: 1 }, signal)).map(({ id }) => id).toSorted();
    for (const query of [{ routeId: "route-1" }, { category: "permanent" }, {}] as const) {
      const others = Object.keys(query).length === 0 ? ["e0000", "e0002"] : [];
      assert.deepEqual(await idsOf({ ...query, before: now }), others);
      assert.deepEqual(await idsOf({ ...query, since: now }), ["e0001"]);
      assert.deepEqual(await idsOf(query), [...others, "e0001"].toSorted());
    }
  }
  assert.equal((await facetsOf(store, { query: { before: now }, fresh: true }, signal)).total, 2);
  const { entries } = await pageOf(store, { since: now }, {}, signal);
  assert.deepEqual(entries.map(placeOf), [{ id: "e0001", failedAt: time }]);
  return store;
}

/** Whoever works through a list takes each entry as it is told, finds it by that, goes on behind it, and deletes it. */
function changed(fields: Fields): DlqPartCheck {
  return async (subject, signal) => {
    const rewriteHead = subject.rewriteHead?.bind(subject);
    assert.ok(rewriteHead !== undefined, "the subject has no rewriteHead: give one, or excuse the case");
    const before = await subject.open();
    await putAll(before, deadLetters(3), signal);
    await using store = await rewriteHead(before, "e0001", (head) =>
      JSON.stringify({ ...(JSON.parse(head) as object), ...fields }),
    );
    await assert.rejects(store.get("e0001", signal), /not as it was written/);
    const heads = await walk(store, {}, { limit: 1 }, signal);
    assert.deepEqual(
      heads.map(placeOf),
      [0, 1, 2].map((n) => ({ id: `e000${n}`, failedAt: at(n) })),
    );
    for (const head of heads) {
      for (const query of queriesOf(head)) {
        const found = await walk(store, query, {}, signal);
        assert.ok(found.map(({ id }) => id).includes(head.id), `${head.id} is not found by ${JSON.stringify(query)}`);
        assert.equal(
          (await facetsOf(store, { query }, signal)).total,
          found.length,
          "as many are counted as are listed",
        );
      }
    }
    const ids = heads.map(({ id }) => id);
    assert.deepEqual(
      await marksOf(store).mark(new Map(ids.map((id) => [id, { assignee: "alice" }])), signal),
      new Set(ids),
    );
    assert.equal((await walk(store, { assignee: "alice" }, {}, signal)).length, 3);
    assert.deepEqual(await adminOf(store).delete(ids, signal), new Set(ids));
  };
}

function placeOf({ id, failedAt }: DeadLetterHead): object {
  return { id, failedAt };
}

function queriesOf(head: DeadLetterHead): readonly DeadLetterQuery[] {
  const { routeId, bindingId, category, errorCode, fingerprint, failedAt } = head;
  const each = [{ routeId }, { bindingId }, { category }, { errorCode }, { fingerprint }];
  const time = { since: failedAt, before: failedAt + 1 };
  return [...each, time, { ...time, routeId, bindingId, category, errorCode, fingerprint }];
}
