import { expect, test } from "vitest";
import { end, outboxRecord, ROUTE } from "./support/records.ts";
import { openScratchOutbox } from "./support/scratch-outbox.ts";

const { signal } = new AbortController();

test("the end of a loan that nobody has is refused, and writes nothing that could fail", async () => {
  const disk = { full: false };
  const sync = () => (disk.full ? Promise.reject(new Error("no space left")) : Promise.resolve());
  await using store = openScratchOutbox({ sync });
  await store.persist([outboxRecord("r0")], signal);
  const claims = await store.claim({ ...ROUTE, limit: 1, loanMs: 60_000 }, signal);
  const ends = claims.map((claim) => end(claim, { kind: "done" }));
  expect(await store.finish(ends, signal)).toEqual([true]);
  disk.full = true;
  const refused = store.finish(ends, signal);
  await expect(store.persist([outboxRecord("r1")], signal)).rejects.toThrow("no space left");
  expect(await refused).toEqual([false]);
});
