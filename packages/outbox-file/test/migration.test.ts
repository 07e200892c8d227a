import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { end, outboxRecord, ROUTE } from "./support/records.ts";
import { openOutbox, scratchFolder } from "./support/scratch-outbox.ts";

const { signal } = new AbortController();
const CLAIM = { ...ROUTE, limit: 10, loanMs: 60_000 };

test("a file of the first schema is brought up to date: what waited in it for a retry is due", async () => {
  using scratch = scratchFolder();
  {
    await using store = openOutbox(scratch.path);
    await store.persist([outboxRecord("waits"), outboxRecord("new")], signal);
    const [waits] = await store.claim({ ...CLAIM, limit: 1 }, signal);
    await store.finish([end(waits!, { kind: "retry", delayMs: 3_600_000, attempts: 2 })], signal);
  }
  {
    using db = new DatabaseSync(scratch.path);
    db.exec(
      "ALTER TABLE record DROP COLUMN retry_delay; ALTER TABLE content DROP COLUMN seal; DROP TABLE spoiled; PRAGMA user_version = 1",
    );
  }
  await using store = openOutbox(scratch.path);
  expect((await store.claim(CLAIM, signal)).map(({ record, attempts }) => [record.id, attempts])).toEqual([
    ["waits", 2],
    ["new", 0],
  ]);
});
