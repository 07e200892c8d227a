import { DatabaseSync } from "node:sqlite";
import { type LogFields, silentLogger, type StoredJob } from "@bridge/ports";
import { expect, test } from "vitest";
import { deadLetter } from "./support/dead-letter.ts";
import { openDlq, scratchFolder } from "./support/scratch-dlq.ts";

const { signal } = new AbortController();
const ALL = { limit: 100, offset: 0 };

test.each([
  ["payload", "payload = CAST('other' AS BLOB)"],
  ["headers", `envelope = replace(envelope, '"t"', '"u"')`],
  ["envelope, so that it cannot be read", "envelope = '['"],
  ["reason", "head = json_set(head, '$.reason', 'another')"],
  ["binding", "head = json_set(head, '$.bindingId', 'other')"],
  ["head, so that it cannot be read", "head = '{'"],
  ["digest", "head = json_set(head, '$.digest', 'other')"],
  ["marks", `marks = replace(marks, 'true', 'null')`],
  ["marks, so that they cannot be read", "marks = '{'"],
  ["marks, which are another's", "marks = (SELECT marks FROM dead_letter WHERE id = 'a')"],
  ["digest's name", `head = replace(head, '"digest"', '"eigest"')`],
])(
  "finding 3.3: a dead letter whose %s has changed is kept, counted and never handed out; all others are",
  async (_, change) => {
    using scratch = scratchFolder();
    {
      await using store = openDlq(scratch.path);
      for (const id of ["a", "b", "c"]) await store.put(deadLetter(id, {}, 1_000), signal);
      await store.marks?.mark(new Map(["a", "b"].map((id) => [id, { quarantined: true }])), signal);
    }
    const db = new DatabaseSync(scratch.path);
    db.exec(`UPDATE dead_letter SET ${change} WHERE id = 'b'`);
    db.close();
    const errors: [string, LogFields | undefined][] = [];
    const logger = { ...silentLogger, error: (line: string, fields?: LogFields) => void errors.push([line, fields]) };
    await using store = openDlq(scratch.path, { logger });
    expect((await store.list({}, ALL, signal)).map(({ id }) => id)).toEqual(["a", "b", "c"]);
    for (let twice = 0; twice < 2; twice++)
      await expect(store.get("b", signal)).rejects.toThrow('dead letter "b" is not as it was written: it is kept');
    expect(errors).toMatchObject([[expect.stringMatching(/is not as it was written/), { entry_id: "b" }]]);
    expect(await store.get("c", signal)).toEqual(deadLetter("c", {}, 1_000));
    expect(store.health?.()).toMatchObject({ fault: undefined, setAside: [], spoiled: 1 });
    expect(await store.admin.delete(["b"], signal)).toEqual(new Set(["b"]));
    expect(store.health?.().spoiled).toBeUndefined();
  },
);

test("marks that have changed may have kept an entry back: what is added to them leaves it quarantined", async () => {
  using scratch = scratchFolder();
  {
    await using store = openDlq(scratch.path);
    await store.put(deadLetter("a"), signal);
    await store.marks?.mark(new Map([["a", { quarantined: true }]]), signal);
  }
  const db = new DatabaseSync(scratch.path);
  db.exec("UPDATE dead_letter SET marks = replace(marks, 'true', 'null')");
  db.close();
  await using store = openDlq(scratch.path);
  const [head] = await store.list({}, ALL, signal);
  expect(head?.reason).toMatch(/not as it was written/);
  await store.marks?.mark(new Map([["a", { assignee: "alice" }]]), signal);
  expect((await store.get("a", signal))?.marks).toEqual({ assignee: "alice", quarantined: true });
});

test("a job that has changed is handed out as it stands, and can be deleted; all others are as they were", async () => {
  using scratch = scratchFolder();
  const job = (id: string): StoredJob => ({ id, revision: 1, state: "running", createdAt: 1, document: '{"a":1}' });
  {
    await using store = openDlq(scratch.path);
    for (const id of ["a", "b", "c"]) await store.jobs?.put(job(id), undefined, signal);
  }
  const db = new DatabaseSync(scratch.path);
  db.exec("UPDATE dead_letter_job SET revision = 7, document = x'7b' WHERE id = 'b'");
  db.close();
  await using store = openDlq(scratch.path);
  const damaged = { ...job("b"), revision: 7, document: "" };
  expect(await store.jobs?.list({ limit: 10 }, signal)).toEqual([job("c"), damaged, job("a")]);
  expect(await store.jobs?.get("b", signal)).toEqual(damaged);
  await store.jobs?.delete(["b"], signal);
  expect(await store.jobs?.get("b", signal)).toBeUndefined();
});
