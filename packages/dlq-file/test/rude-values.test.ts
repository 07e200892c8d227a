import type { DatabaseSync } from "node:sqlite";
import { workThrough } from "@bridge/conformance";
import type { StoredJob } from "@bridge/ports";
import { putRudeValues, RUDE_VALUES } from "@bridge/tooling/rude-columns";
import { describe, expect, test } from "vitest";
import { deadLetter } from "./support/dead-letter.ts";
import { changedCopyOf, changedWhileOpen, openScratchDlq, type ScratchDlq } from "./support/scratch-dlq.ts";

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

/** All that an operator does with them, down to their deletion. */
async function work(store: ScratchDlq): Promise<void> {
  expect(store.health?.().setAside).toEqual([]);
  const early = { query: { since: -1e12 }, by: ["routeId"], maxGroups: 99, buckets: 5 } as const;
  expect(await store.facets?.(early, signal)).toMatchObject({ total: MANY });
  await workThrough(store, { count: MANY }, signal);
  await store.put(deadLetter("d", { failedAt: FAILED_AT }), signal);
  expect(await store.admin.deleteWhere?.({}, undefined, signal)).toBe(1);
  expect(store.health?.().spoiled).toBeUndefined();
}

const TYPES = ["string", "number", "string", "number", "string"];

describe.each([
  ["before the file is opened", changedCopyOf],
  ["while the file is open", changedWhileOpen],
])("%s", (_, change) => {
  test.each(ENTRY)(
    "whatever somebody puts into %s of dead letters, all are listed, counted, moved and deleted",
    async (column) => {
      await using changed = await change(await filled(), (db) => putAll(db, "dead_letter", column));
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
      await using changed = await change(store, (db) => putAll(db, "dead_letter_trash", column));
      const count = (await changed.admin.trash?.count(99, signal, "job")) ?? 0;
      expect(await changed.admin.trash?.count(99, signal)).toBeGreaterThanOrEqual(count);
      expect(await changed.admin.trash?.restore("job", 99, signal)).toEqual({ restored: count, present: 0 });
      if (column !== "batch" && column !== "until") await work(changed);
      const ids = (await changed.list({}, { limit: 99, offset: 0 }, signal)).map(({ id }) => id);
      if (column === "batch" || column === "until") expect(ids).toEqual(expect.arrayContaining(["a", "c"]));
    },
  );

  test.each(["id", "revision", "state", "created_at", "document"])(
    "whatever somebody puts into %s of jobs, all others are handed out",
    async (column) => {
      const job = (id: string): StoredJob => ({ id, revision: 1, state: "running", createdAt: 1, document: "{}" });
      const store = openScratchDlq();
      for (const id of IDS) await store.jobs?.put(job(id), undefined, signal);
      await using changed = await change(store, (db) => putAll(db, "dead_letter_job", column));
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
});
