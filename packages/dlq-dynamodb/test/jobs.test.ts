import type { StoredJob } from "@bridge/ports";
import { testDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, beforeEach, expect, test } from "vitest";
import { deadLetter } from "./support/dead-letter.ts";
import { makeTable, openDlq } from "./support/dlq-tables.ts";

const dynamo = await testDynamo();
afterAll(() => dynamo[Symbol.asyncDispose]());
beforeEach(() => dynamo.reset());

const { signal } = new AbortController();
const JOB: StoredJob = { id: "job-1", revision: 1, state: "planned", createdAt: 1_767_225_600_000, document: "{}" };

test.each([undefined, 1])(
  "operators 1.5: of 20 writers who expect revision %s one is told that it has written, also when answers are lost",
  async (expected) => {
    const table = await makeTable(dynamo);
    await using one = await openDlq(dynamo, table);
    await using other = await openDlq(dynamo, table);
    if (expected !== undefined) await one.jobs.put(JOB, undefined, signal);
    const revision = (expected ?? 0) + 1;
    let updates = 0;
    const faults = ["lose-answer", undefined, "cut", { error: "ThrottlingException" }] as const;
    dynamo.choose = (operation) => (operation === "UpdateItem" ? faults[updates++ % faults.length] : undefined);
    const told = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        (i % 2 === 0 ? one : other).jobs.put({ ...JOB, revision, document: String(i) }, expected, signal),
      ),
    );
    expect(told.filter((written) => written)).toHaveLength(1);
    expect(await one.jobs.get(JOB.id, signal)).toEqual({ ...JOB, revision, document: String(told.indexOf(true)) });
  },
);

test("operators 1.5: a job whose answer was lost is told to be written, also when others have written since", async () => {
  const table = await makeTable(dynamo);
  await using store = await openDlq(dynamo, table);
  await using other = await openDlq(dynamo, table);
  for (const expected of [undefined, 10]) {
    const revision = (expected ?? 0) + 1;
    let answers = 0;
    dynamo.inject("UpdateItem", "lose-answer", 1);
    dynamo.beforeAnswer = async (operation) => {
      if (operation !== "UpdateItem" || answers++ > 0) return;
      for (let more = 1; more < 8; more++)
        await other.jobs.put({ ...JOB, revision: revision + more, state: "running" }, revision + more - 1, signal);
    };
    expect(await store.jobs.put({ ...JOB, revision }, expected, signal)).toBe(true);
    dynamo.reset();
    expect(await store.jobs.put({ ...JOB, revision }, expected, signal)).toBe(false);
    for (let more = 8; more < 10; more++)
      await other.jobs.put({ ...JOB, revision: revision + more, state: "running" }, revision + more - 1, signal);
    expect((await other.jobs.get(JOB.id, signal))?.revision).toBe(revision + 9);
  }
});

test("operators 1.5: what a list says of a job is so, while the index lags", async () => {
  await using store = await openDlq(dynamo, await makeTable(dynamo));
  for (const id of ["a", "b", "c"]) await store.jobs.put({ ...JOB, id, state: "running" }, undefined, signal);
  const running = async () => (await store.jobs.list({ states: ["running"], limit: 2 }, signal)).map(({ id }) => id);
  expect(await running()).toEqual(["c", "b"]);
  dynamo.staleIndexes = true;
  await store.jobs.put({ ...JOB, id: "c", revision: 2, state: "paused" }, 1, signal);
  await store.jobs.delete(["b"], signal);
  expect(await running()).toEqual(["a"]);
  dynamo.staleIndexes = false;
});

test("no id of a job is one of an entry, nor the other way round", async () => {
  await using store = await openDlq(dynamo, await makeTable(dynamo));
  await store.jobs.put(JOB, undefined, signal);
  expect(await store.get("job/job-1", signal)).toBeUndefined();
  expect(await store.admin.delete(["job/job-1"], signal)).toEqual(new Set());
  await expect(store.put(deadLetter("job/job-1"), signal)).rejects.toThrow('begins with "job/"');
  for (const id of ["", "x".repeat(1_001)]) expect(await store.jobs.get(id, signal)).toBeUndefined();
  await store.put(deadLetter("job-1"), signal);
  await store.admin.deleteWhere({}, undefined, signal);
  expect(await store.jobs.get("job-1", signal)).toEqual(JOB);
});
