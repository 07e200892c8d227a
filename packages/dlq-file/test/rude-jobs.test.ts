import { DatabaseSync } from "node:sqlite";
import type { StoredJob } from "@bridge/ports";
import { RUDE_VALUES } from "@bridge/tooling/rude-columns";
import { expect, test } from "vitest";
import { openDlq, type ScratchDlq, scratchFolder } from "./support/scratch-dlq.ts";

const { signal } = new AbortController();
const TYPES = ["string", "number", "string", "number", "string"];

function job(id: string): StoredJob {
  return { id, revision: 1, state: "running", createdAt: 1, document: "{}" };
}

/** Each is handed out and written, whatever somebody has made of one of them. */
async function workWithAll(store: ScratchDlq): Promise<void> {
  const listed = (await store.jobs?.list({ limit: 9 }, signal)) ?? [];
  expect(listed).toHaveLength(3);
  expect(listed.filter(({ id }) => ["a", "c"].includes(id))).toEqual([job("c"), job("a")]);
  expect(await store.jobs?.list({ states: ["running"], limit: 9 }, signal)).toEqual(
    expect.arrayContaining([job("c"), job("a")]),
  );
  for (const one of listed) {
    const { id, revision, state, createdAt, document } = one;
    expect([id, revision, state, createdAt, document].map((each) => typeof each)).toEqual(TYPES);
    expect(await store.jobs?.get(id, signal)).toEqual(one);
    expect(await store.jobs?.put({ ...job(id), revision: revision + 1 }, revision, signal)).toBe(true);
  }
}

test.each(
  ["id", "revision", "state", "created_at", "document"].flatMap((column) =>
    RUDE_VALUES.filter((to) => column === "id" || to !== "NULL").map((to) => [column, to]),
  ),
)(
  "a job whose %s somebody sets to %s is that job alone, while the file is open and when it is opened again",
  async (column, value) => {
    using scratch = scratchFolder();
    {
      await using store = openDlq(scratch.path);
      for (const id of ["a", "b", "c"]) await store.jobs?.put(job(id), undefined, signal);
      using db = new DatabaseSync(scratch.path);
      db.exec(`UPDATE dead_letter_job SET ${column} = ${value} WHERE id = 'b'`);
      await workWithAll(store);
    }
    await using store = openDlq(scratch.path);
    const listed = (await store.jobs?.list({ limit: 9 }, signal)) ?? [];
    expect(listed).toHaveLength(3);
    for (const one of listed) expect(await store.jobs?.get(one.id, signal)).toEqual(one);
    await store.jobs?.delete(
      listed.map(({ id }) => id),
      signal,
    );
    expect(await store.jobs?.list({ limit: 9 }, signal)).toEqual([]);
  },
);
