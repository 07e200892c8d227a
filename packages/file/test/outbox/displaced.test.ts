import { PATIENCE } from "@bridge/tooling/patience";
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
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
  // What was refused is in the file all the same, which may come back.
  expect(claims.map(({ record }) => record.id)).toEqual([...accepted.map(({ id }) => id), "late"]);
  const ends = claims.map((claim) => end(claim, { kind: "done" }));
  expect(await store.finish(ends, signal)).toEqual(ends.map(() => true));
  expect(await store.backlog(signal)).toEqual([]);
  await expect(store.persist([late], signal)).rejects.toThrow(/let what it holds be delivered or redriven from here/);
});

test("what was refused because the file was not in its place, but is in it, is lent in its order once the file is back", async () => {
  using scratch = scratchFolder();
  const [folder, elsewhere] = [join(scratch.folder, "store"), join(scratch.folder, "elsewhere")];
  mkdirSync(folder);
  await using store = openOutbox(join(folder, "outbox.db"));
  renameSync(folder, elsewhere);
  // Written before anybody looked whether the file is there.
  const early = outboxRecord("early");
  await expect(store.persist([early], signal)).rejects.toThrow(/was deleted, moved away or replaced/);
  renameSync(elsewhere, folder);
  const late = outboxRecord("late");
  await vi.waitFor(() => store.persist([late], signal), PATIENCE);
  expect(await store.persist([early], signal)).toEqual([{ kind: "duplicate", id: "early", status: "pending" }]);
  const claims = await store.claim({ ...ROUTE, limit: 100, loanMs: 60_000 }, signal);
  expect(claims.map(({ record }) => record.id)).toEqual(["early", "late"]);
  expect(
    await store.finish(
      claims.map((claim) => end(claim, { kind: "done" })),
      signal,
    ),
  ).toEqual([true, true]);
});
