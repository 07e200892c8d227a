import { PATIENCE } from "@bridge/tooling/patience";
import { truncateSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { expect, test, vi } from "vitest";
import { end, outboxRecord, ROUTE } from "./support/records.ts";
import { openOutbox, scratchFolder } from "./support/scratch-outbox.ts";

const { signal } = new AbortController();
const CLAIM = { ...ROUTE, limit: 10, loanMs: 60_000 };

test("finding 10.1: the end of a loan from before a file was set aside ends no record of the new one", async () => {
  using scratch = scratchFolder();
  await using store = openOutbox(scratch.path, { onCorrupt: "quarantine" });
  await store.persist([outboxRecord("before")], signal);
  const [lent] = await store.claim(CLAIM, signal);
  truncateSync(`${scratch.path}-wal`, 0);
  await vi.waitFor(() => expect(store.health?.().setAside).toHaveLength(1), PATIENCE);
  await store.persist([outboxRecord("after")], signal);
  await store.finish([end(lent!, { kind: "done" })], signal);
  expect(await store.status("after", signal)).toBe("pending");
  expect((await store.claim(CLAIM, signal)).map(({ record }) => record.id)).toEqual(["after"]);
});

test("records of a file that was set aside are not counted as spoiled in the new one", async () => {
  using scratch = scratchFolder();
  {
    await using store = openOutbox(scratch.path);
    await store.persist([outboxRecord("sound"), outboxRecord("spoiled")], signal);
  }
  const db = new DatabaseSync(scratch.path);
  db.exec("UPDATE content SET payload = CAST('other' AS BLOB) WHERE number = 2");
  db.close();
  await using store = openOutbox(scratch.path, { onCorrupt: "quarantine" });
  const claims = await store.claim(CLAIM, signal);
  await store.finish(
    claims.map((claim) => end(claim, { kind: "done" })),
    signal,
  );
  expect(store.health?.()).toMatchObject({ spoiled: 1, setAside: [] });
  truncateSync(`${scratch.path}-wal`, 0);
  await vi.waitFor(() => expect(store.health?.().setAside).toHaveLength(1), PATIENCE);
  expect(store.health?.().spoiled).toBeUndefined();
});
