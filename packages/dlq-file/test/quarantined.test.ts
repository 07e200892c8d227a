import { DatabaseSync } from "node:sqlite";
import { PATIENCE } from "@bridge/tooling/patience";
import { type DeadLetterMarks, type DeadLetterQuery, type Facets, type MarkChange } from "@bridge/ports";
import { expect, test, vi } from "vitest";
import { newRow } from "../src/dead-letter-row.ts";
import { EntryCounts } from "../src/entry-counts.ts";
import { tallyCounts } from "../src/tally-counts.ts";
import { deadLetter } from "./support/dead-letter.ts";
import { changedCopyOf, openDlq, openScratchDlq, type ScratchDlq, scratchFolder } from "./support/scratch-dlq.ts";

const { signal } = new AbortController();
const HOUR_MS = 3_600_000;
const KEPT_BACK: MarkChange = { quarantined: true };

test("a file that an older release has made gets an index of what is quarantined, and is counted by it", async () => {
  using scratch = scratchFolder();
  {
    await using store = openDlq(scratch.path);
    await fill(store, 30, 7);
  }
  const schemas: unknown[] = [];
  const schema = (change = ""): void => {
    using db = new DatabaseSync(scratch.path);
    schemas.push([
      db.prepare("PRAGMA user_version").get(),
      db.prepare("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").all(),
    ]);
    db.exec(change);
  };
  schema("DROP INDEX dead_letter_quarantined; PRAGMA user_version = 2");
  {
    await using store = openDlq(scratch.path);
    expect(await counted(store, { quarantined: false })).toMatchObject({ total: 23, exact: true });
    expect(await counted(store, { quarantined: true })).toMatchObject({ total: 7, exact: true });
    expect(await idsOf(store, { quarantined: true })).toHaveLength(7);
  }
  schema();
  expect(schemas[1]).toEqual(schemas[0]);
});

test("what is quarantined is counted by what is listed, whatever somebody has made of the marks", async () => {
  const store = openScratchDlq();
  await fill(store, 12, 12);
  const changes = [
    "marks = replace(marks, 'true', 'null')",
    "marks = '{'",
    "marks = NULL",
    "marks = CAST(marks AS BLOB)",
    "marks = marks || ' '",
    "marks = 7",
    "head = '{'",
  ];
  await using changed = await changedCopyOf(store, (db) => {
    for (const [n, change] of changes.entries()) db.exec(`UPDATE dead_letter SET ${change} WHERE id = 'e${n}'`);
  });
  for (const quarantined of [true, false]) {
    const ids = await idsOf(changed, { quarantined });
    expect(ids).toHaveLength(quarantined ? 7 : 5);
    expect(await counted(changed, { quarantined })).toMatchObject({ total: ids.length, exact: true });
  }
});

test("a text that a note or an error has is no mark", async () => {
  await using store = openScratchDlq();
  await fill(store, 1, 0);
  const text = '"quarantined":true';
  const redriven = { lastAt: 1, lastCode: "TIMEOUT" as const, lastError: text };
  await store.marks?.mark(
    new Map([["e0", { note: { at: 1, by: text, text: `{${text}}` }, assignee: text, redriven }]]),
    signal,
  );
  expect(await counted(store, { quarantined: false })).toMatchObject({ total: 1, exact: true });
  expect(await idsOf(store, { quarantined: true })).toEqual([]);
});

test("an entry that is marked while groups are added up counts once, as it was or as it is", () => {
  const counts = new EntryCounts();
  counts.count({ groups: [], upTo: undefined });
  const rows = ["a", "b", "c"].map((id) => newRow(deadLetter(id, { bindingId: id })).counted);
  for (const is of rows) counts.change({ is });
  const request = { query: {}, by: ["bindingId"], maxGroups: 10, buckets: 0 } as const;
  const adding = tallyCounts({ read: () => undefined } as never, counts, request);
  adding.next();
  // Each is all that there is of its line.
  for (const was of rows) counts.change({ was, is: { ...was, quarantined: 1 } });
  let step = adding.next();
  while (step.done !== true) step = adding.next();
  expect(step.value?.counted).toBe(3);
});

test("what fails now is counted, too, however much that is", async () => {
  const store = openScratchDlq();
  await fill(store, 3, 1);
  await using many = await changedCopyOf(store, (db) => {
    const others = db
      .prepare("SELECT name FROM pragma_table_info('dead_letter') WHERE name NOT IN ('number', 'id')")
      .all();
    const columns = others.map(({ name }) => String(name)).join();
    db.exec(`
      WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 20500)
      INSERT INTO dead_letter (id, ${columns}) SELECT 'n' || n, ${columns} FROM n, dead_letter WHERE id = 'e2'`);
  });
  const which = { before: HOUR_MS / 2, quarantined: false };
  expect(await counted(many, which)).toMatchObject({ total: 20_502, exact: true });
});

test("an entry whose former one in the trash was kept back counts as nothing when it goes there", async () => {
  await using store = openScratchDlq();
  const { marks, admin } = store;
  await fill(store, 3, 0);
  await counted(store, {});
  await marks?.mark(new Map([["e0", KEPT_BACK]]), signal);
  await admin.trash?.move(["e0"], "batch", Date.now() + HOUR_MS, signal);
  await fill(store, 1, 0);
  await admin.trash?.move(["e0"], "batch", Date.now() + HOUR_MS, signal);
  for (const quarantined of [true, false, undefined])
    expect(await counted(store, { quarantined })).toMatchObject({ total: quarantined === true ? 0 : 2 });
  await fill(store, 1, 0);
  expect(await admin.trash?.restore("batch", 10, signal)).toEqual({ restored: 0, present: 1 });
  const back: DeadLetterMarks | undefined = (await store.get("e0", signal))?.marks;
  expect(back).toEqual(KEPT_BACK);
  for (const quarantined of [true, false]) {
    expect(await counted(store, { quarantined })).toMatchObject({ total: quarantined ? 1 : 2 });
  }
});

async function fill(store: ScratchDlq, count: number, quarantined: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, n) => `e${n}`);
  await Promise.all(ids.map((id, n) => store.put(deadLetter(id, {}, 1_000 + n), signal)));
  await store.marks?.mark(new Map(ids.slice(0, quarantined).map((id) => [id, KEPT_BACK])), signal);
}

/** Once all is counted. */
async function counted(store: ScratchDlq, query: DeadLetterQuery): Promise<Facets | undefined> {
  const facets = (which: DeadLetterQuery): Promise<Facets> | undefined =>
    store.facets?.({ query: which, by: ["routeId"], maxGroups: 10, buckets: 0 }, signal);
  await vi.waitFor(async () => expect((await facets({}))?.exact).toBe(true), PATIENCE);
  return facets(query);
}

async function idsOf(store: ScratchDlq, query: DeadLetterQuery): Promise<readonly string[]> {
  const page = await store.page?.(query, { limit: 100, order: "oldest", budget: 1_000 }, signal);
  return page?.entries.map(({ id }) => id) ?? [];
}
