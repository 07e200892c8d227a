import assert from "node:assert/strict";
import type { DeadLetterHead, DeadLetterQuery, DlqStore } from "@bridge/ports";
import { isSpoiled, isStillListed } from "@bridge/ports/internal";
import { adminOf } from "./check.ts";
import { facetsOf, later, marksOf, pageOf, trashOf, walk } from "./parts.ts";

const BY = ["routeId", "bindingId", "category", "errorCode", "fingerprint"] as const;

/** How an entry is found that is shown so. */
export type QueriesOf = (head: DeadLetterHead) => readonly DeadLetterQuery[];

const byAllShown: QueriesOf = ({ routeId, bindingId, category, errorCode, fingerprint }) => [
  { routeId },
  { category },
  { routeId, bindingId, category, errorCode, fingerprint },
];

/**
 * Does all that an operator does with the entries of a store, down to their deletion, in some of which somebody has changed something:
 * each is listed, found by what is shown of it, counted, marked, moved, taken back and deleted; it is read, or told as spoiled.
 */
export async function workThrough(
  store: DlqStore,
  { count, queriesOf = byAllShown }: { readonly count: number; readonly queriesOf?: QueriesOf },
  signal: AbortSignal,
): Promise<void> {
  const listed = await store.list({}, { limit: count + 1, offset: 0 }, signal);
  const ids = listed.map(({ id }) => id);
  assert.equal(new Set(ids).size, count, "as many are listed as there are");
  for (const head of listed) {
    for (const name of BY) assert.equal(typeof head[name], "string", `${name} of ${head.id}`);
    assert.ok(Number.isFinite(head.failedAt), `the time of ${head.id}`);
  }
  for (const order of ["oldest", "newest"] as const) {
    const paged = await walk(store, {}, { order, limit: 1 }, signal);
    assert.deepEqual(paged.map(({ id }) => id).toSorted(), ids.toSorted());
  }
  assert.equal((await facetsOf(store, { by: BY, fresh: true }, signal)).total, count);
  for (const head of listed) await look(store, { head, queries: queriesOf(head) }, signal);
  const all = new Set(ids);
  assert.deepEqual(await marksOf(store).mark(new Map(ids.map((id) => [id, { assignee: "alice" }])), signal), all);
  assert.deepEqual(await trashOf(store).move(ids, "job", later(), signal), all);
  assert.equal(await store.count(count, signal), 0);
  assert.deepEqual(await trashOf(store).restore("job", count, signal), { restored: count, present: 0 });
  assert.deepEqual(await adminOf(store).delete(ids.slice(0, 2), signal), new Set(ids.slice(0, 2)));
  assert.equal(await adminOf(store).deleteWhere({}, undefined, signal), count - 2);
}

async function look(
  store: DlqStore,
  { head, queries }: { readonly head: DeadLetterHead; readonly queries: readonly DeadLetterQuery[] },
  signal: AbortSignal,
): Promise<void> {
  const { id } = head;
  const pages: Parameters<typeof isStillListed>[0] = { page: (...call) => pageOf(store, ...call) };
  assert.ok(await isStillListed(pages, head, signal), `${id} is listed`);
  for (const query of queries) {
    const { entries } = await pageOf(store, query, { limit: 1_000 }, signal);
    assert.ok(
      entries.some((entry) => entry.id === id),
      `${id} is not found by ${JSON.stringify(query)}`,
    );
  }
  const got = await store.get(id, signal).catch((error: unknown) => {
    if (!isSpoiled(error)) throw error;
    return { id };
  });
  assert.equal(got?.id, id, `${id}, which is listed, is given or told as spoiled`);
}
