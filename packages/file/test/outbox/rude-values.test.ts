import { rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { OutboxRecord, OutboxStore } from "@bridge/ports";
import { putRudeValues, RUDE_VALUES } from "@bridge/tooling/rude-columns";
import { expect, test } from "vitest";
import { end, outboxRecord, ROUTE } from "./support/records.ts";
import { openScratchOutbox, survivorOf } from "./support/scratch-outbox.ts";

const { signal } = new AbortController();

const RECORD = [
  "number",
  "lane",
  "id",
  "identity",
  "payload_digest",
  "ordering_key",
  "entry_id",
  "created_at",
  "status",
  "attempts",
  "due_at",
  "retry_delay",
  "finished_at",
];
const CONTENT = ["number", "address", "envelope", "received", "payload", "received_payload", "seal"];
const RECORDS = ["first", ...RUDE_VALUES.map((_, n) => `r${n}`), "last"].map((id) => outboxRecord(id));

/** An outbox in which each of them was put into the column of a record of its own, as far as the table takes it. */
async function changed(table: string, column: string): Promise<OutboxStore> {
  const store = openScratchOutbox();
  await store.persist(RECORDS, signal);
  return survivorOf(store, {}, (path) => {
    const db = new DatabaseSync(path);
    putRudeValues(db, { table, column, rowOf: (nth) => `number = ${nth + 2}` });
    db.close();
    rmSync(`${path}-mark`, { force: true });
  });
}

async function deliver(store: OutboxStore): Promise<readonly OutboxRecord[]> {
  const claims = await store.claim({ ...ROUTE, limit: 100, loanMs: 60_000 }, signal);
  await store.finish(
    claims.map((claim) => end(claim, { kind: "done" })),
    signal,
  );
  return claims.map(({ record }) => record);
}

test.each([
  ...RECORD.map((column) => ["record", column] as const),
  ...CONTENT.map((column) => ["content", column] as const),
  ["content", "lane"] as const,
])("whatever somebody puts into a %s's %s, all others are sent, and none that is another", async (table, column) => {
  await using store = await changed(table, column);
  expect(store.health?.()).toMatchObject({ fault: undefined, setAside: [] });
  for (const { id } of await store.list(ROUTE, { limit: 100, offset: 0 }, signal)) expect(typeof id).toBe("string");
  expect(await store.backlog(signal)).toHaveLength(1);
  expect(await store.blockedKeys?.(ROUTE, 100, signal)).toBeInstanceOf(Array);
  for (const { id } of RECORDS) await store.status(id, signal);
  expect(await store.redriving?.("text", signal)).not.toBe(null);
  const sent = await deliver(store);
  expect(sent.map(({ id }) => id)).toEqual(expect.arrayContaining(["first", "last"]));
  for (const record of sent) expect(RECORDS).toContainEqual(record);
  // Those that are there already are duplicates, or of another content.
  for (const record of RECORDS) await store.persist([{ ...record, id: `${record.id} again` }], signal);
  await store.persist([outboxRecord("new")], signal);
  expect((await deliver(store)).map(({ id }) => id)).toContain("new");
  store.acknowledgeDamage?.();
  await store.persist([outboxRecord("newer")], signal);
  await using again = await survivorOf(store);
  expect((await deliver(again)).map(({ id }) => id)).toContain("newer");
});

test("a lane that has got a number which nobody can read is as one that is gone", async () => {
  const store = openScratchOutbox();
  await store.persist(RECORDS, signal);
  await deliver(store);
  const change = (path: string): void => {
    const db = new DatabaseSync(path);
    db.exec("UPDATE lane SET lane = 9000000000000000000");
    db.close();
    rmSync(`${path}-mark`, { force: true });
  };
  await using after = await survivorOf(store, {}, change);
  await after.persist([outboxRecord("new")], signal);
  expect((await deliver(after)).map(({ id }) => id)).toEqual(["new"]);
});
