import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { end, outboxRecord, ROUTE } from "./support/records.ts";
import { openOutbox, scratchFolder } from "./support/scratch-outbox.ts";

const { signal } = new AbortController();

test("finding 3.2: nothing is accepted into a file that was deleted, and what it held is delivered", async () => {
  using scratch = scratchFolder();
  await using store = openOutbox(scratch.path);
  const accepted = Array.from({ length: 50 }, (_, i) => outboxRecord(`r${i}`));
  await store.persist(accepted, signal);
  rmSync(scratch.path);
  const late = outboxRecord("late");
  await expect(store.persist([late], signal)).rejects.toMatchObject({ code: "UNAVAILABLE", charged: false });
  expect(store.health?.().fault).toMatch(/was deleted, moved away or replaced while it is in use/);
  const claims = await store.claim({ ...ROUTE, limit: 100, loanMs: 60_000 }, signal);
  expect(claims.map(({ record }) => record.id)).toEqual(accepted.map(({ id }) => id));
  const ends = claims.map((claim) => end(claim, { kind: "done" }));
  expect(await store.finish(ends, signal)).toEqual(ends.map(() => true));
  expect(await store.backlog(signal)).toEqual([]);
  await expect(store.persist([late], signal)).rejects.toThrow(/let what it holds be delivered or redriven from here/);
});
