import type { DatabaseSync } from "node:sqlite";
import { type DeadLetterHead, type DlqStore, type StoredJob } from "@bridge/ports";
import { isSpoiled } from "@bridge/ports/internal";
import { putRudeValues, RUDE_VALUES } from "@bridge/tooling/rude-columns";
import { expect, test } from "vitest";
import { deadLetter } from "./support/dead-letter.ts";
import { changedCopyOf, openScratchDlq, type ScratchDlq } from "./support/scratch-dlq.ts";

const { signal } = new AbortController();
const FAILED_AT = 1_767_225_600_000;
const UNTIL = 4_102_444_800_000;

const ENTRY = [
  "number",
  "id",
  "failed_at",
  "route_id",
  "binding_id",
  "category",
  "error_code",
  "fingerprint",
  "envelope_key",
  "correlation_key",
  "marks",
  "head",
  "envelope",
  "payload",
];

const IDS = ["a", ...RUDE_VALUES.map((_, n) => `b${n}`), "c"];
const MANY = IDS.length;

function putAll(db: DatabaseSync, table: string, column: string): void {
  putRudeValues(db, { table, column, rowOf: (nth) => `id = 'b${nth}'` });
}

async function filled(): Promise<ScratchDlq> {
  const store = openScratchDlq();
  for (const id of IDS) await store.put(deadLetter(id, { failedAt: FAILED_AT }), signal);
  await store.marks?.mark(new Map(IDS.map((id) => [id, { quarantined: true }])), signal);
  return store;
}

async function walk(store: DlqStore, order: "oldest" | "newest"): Promise<readonly DeadLetterHead[]> {
  const heads: DeadLetterHead[] = [];
  let after: DeadLetterHead | undefined | Parameters<NonNullable<DlqStore["page"]>>[1]["after"];
  do {
    const page = await store.page?.({}, { limit: 1, budget: 100, order, after }, signal);
    heads.push(...(page?.entries ?? []));
    after = page?.next;
  } while (after !== undefined && heads.length < 2 * MANY);
  return heads;
}

/** All that an operator does with the three, down to their deletion. */
async function work(store: ScratchDlq): Promise<void> {
  expect(store.health?.().setAside).toEqual([]);
  const listed = await store.list({}, { limit: 99, offset: 0 }, signal);
  const ids = listed.map(({ id }) => id);
  expect(new Set(ids).size).toBe(MANY);
  for (const text of listed.flatMap((head) => [head.id, head.routeId, head.bindingId, head.category, head.fingerprint]))
    expect(typeof text).toBe("string");
  for (const { failedAt } of listed) expect(Number.isFinite(failedAt)).toBe(true);
  for (const order of ["oldest", "newest"] as const)
    expect((await walk(store, order)).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  const by = ["routeId", "bindingId", "category", "errorCode", "fingerprint"] as const;
  for (const since of [undefined, -1e12])
    expect(await store.facets?.({ query: { since }, by, maxGroups: 99, buckets: 5 }, signal)).toMatchObject({
      total: MANY,
    });
  for (const { id, routeId, category, fingerprint } of listed) {
    for (const query of [{ routeId }, { category }, { fingerprint }, { routeId, category }]) {
      const { entries = [] } = (await store.page?.(query, { limit: 99, budget: 99, order: "oldest" }, signal)) ?? {};
      expect(entries.map((head) => head.id)).toContain(id);
    }
    const got = await store.get(id, signal).catch((error: unknown) => error);
    if (!isSpoiled(got)) expect(got).toMatchObject({ id, envelope: { payload: expect.any(Uint8Array) as Uint8Array } });
  }
  expect(await store.marks?.mark(new Map(ids.map((id) => [id, { assignee: "alice" }])), signal)).toEqual(new Set(ids));
  expect(await store.admin.trash?.move(ids, "job", UNTIL, signal)).toEqual(new Set(ids));
  expect(await store.count(99, signal)).toBe(0);
  expect(await store.admin.trash?.restore("job", 99, signal)).toEqual({ restored: MANY, present: 0 });
  await store.put(deadLetter("d", { failedAt: FAILED_AT }), signal);
  expect(await store.admin.delete(ids.slice(0, 2), signal)).toEqual(new Set(ids.slice(0, 2)));
  expect(await store.admin.deleteWhere?.({}, undefined, signal)).toBe(MANY - 1);
  expect(store.health?.().spoiled).toBeUndefined();
}

test.each(ENTRY)(
  "whatever somebody puts into %s of dead letters, all are listed, counted, moved and deleted",
  async (column) => {
    await using changed = await changedCopyOf(await filled(), (db) => putAll(db, "dead_letter", column));
    await work(changed);
    await using again = await changedCopyOf(changed, () => {});
    expect(await again.count(99, signal)).toBe(0);
  },
);

test.each([...ENTRY, "batch", "until"])(
  "whatever somebody puts into %s of entries in the trash, what comes back is as any other",
  async (column) => {
    const store = await filled();
    await store.admin.trash?.move(IDS, "job", UNTIL, signal);
    await using changed = await changedCopyOf(store, (db) => putAll(db, "dead_letter_trash", column));
    const count = (await changed.admin.trash?.count(99, signal, "job")) ?? 0;
    expect(await changed.admin.trash?.count(99, signal)).toBeGreaterThanOrEqual(count);
    expect(await changed.admin.trash?.restore("job", 99, signal)).toEqual({ restored: count, present: 0 });
    if (column !== "batch" && column !== "until") await work(changed);
    const ids = (await changed.list({}, { limit: 99, offset: 0 }, signal)).map(({ id }) => id);
    if (column === "batch" || column === "until") expect(ids).toEqual(expect.arrayContaining(["a", "c"]));
  },
);

const TYPES = ["string", "number", "string", "number", "string"];

test.each(["id", "revision", "state", "created_at", "document"])(
  "whatever somebody puts into %s of jobs, all others are handed out",
  async (column) => {
    const job = (id: string): StoredJob => ({ id, revision: 1, state: "running", createdAt: 1, document: "{}" });
    const store = openScratchDlq();
    for (const id of IDS) await store.jobs?.put(job(id), undefined, signal);
    await using changed = await changedCopyOf(store, (db) => putAll(db, "dead_letter_job", column));
    expect(changed.health?.().setAside).toEqual([]);
    const listed = (await changed.jobs?.list({ limit: 99 }, signal)) ?? [];
    expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining(["a", "c"]));
    if (column !== "id") expect(listed).toHaveLength(MANY);
    for (const { id, revision, state, createdAt, document } of listed) {
      expect([id, revision, state, createdAt, document].map((value) => typeof value)).toEqual(TYPES);
      expect(await changed.jobs?.get(id, signal)).toMatchObject({ id, document });
    }
    await changed.jobs?.delete([...IDS, ...listed.map(({ id }) => id)], signal);
    for (const id of IDS) expect(await changed.jobs?.put(job(id), undefined, signal)).toBe(true);
    expect(await changed.jobs?.list({ states: ["running"], limit: 99 }, signal)).toHaveLength(MANY);
  },
);
