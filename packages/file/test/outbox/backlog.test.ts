import { expect, test } from "vitest";
import { end, outboxRecord, ROUTE } from "./support/records.ts";
import { openOutbox, scratchFolder } from "./support/scratch-outbox.ts";

const { signal } = new AbortController();

test("keys that wait for a retry are counted after a restart, before anybody has claimed", async () => {
  using scratch = scratchFolder();
  {
    await using store = openOutbox(scratch.path);
    await store.persist(
      [outboxRecord("r1", { orderingKey: "key" }), outboxRecord("r2", { orderingKey: "key" })],
      signal,
    );
    const [head] = await store.claim({ ...ROUTE, limit: 1, loanMs: 60_000 }, signal);
    await store.finish([end(head!, { kind: "retry", delayMs: 600_000, attempts: 1 })], signal);
  }
  await using store = openOutbox(scratch.path);
  expect(await store.backlog(signal)).toMatchObject([{ depth: 2, blockedKeys: 1 }]);
});
