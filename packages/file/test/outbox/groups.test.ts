import type { OutboxStore } from "@bridge/ports";
import { expect, test } from "vitest";
import type { FileDatabase } from "../../src/database/file-database.ts";
import { claim } from "../../src/outbox/claim.ts";
import { finish } from "../../src/outbox/finish.ts";
import type { OutboxStatements } from "../../src/outbox/outbox-statements.ts";
import { persist } from "../../src/outbox/persist.ts";
import { WINDOW_LIMITS } from "../../src/outbox/window.ts";
import { openParts } from "./support/parts.ts";
import { end, outboxRecord, ROUTE } from "./support/records.ts";
import { openScratchOutbox, scratchFolder } from "./support/scratch-outbox.ts";

const { signal } = new AbortController();

/** An outbox, and how often its file has been synced. */
function counted(): { readonly store: OutboxStore; readonly syncs: () => number } {
  let syncs = 0;
  const sync = async (): Promise<void> => void syncs++;
  return { store: openScratchOutbox({ sync }), syncs: () => syncs };
}

// What is written in one go keeps the event loop: up to 2 MiB.
test.each([
  { bytes: 1_000, groups: 1 },
  { bytes: 900_000, groups: 2 },
  { bytes: 1_200_000, groups: 3 },
])("three records of $bytes bytes that come at once are written in $groups groups", async ({ bytes, groups }) => {
  const { store, syncs } = counted();
  await using _ = store;
  const before = syncs();
  await Promise.all(["a", "b", "c"].map((id) => store.persist([outboxRecord(id, {}, bytes)], signal)));
  expect(syncs() - before).toBe(groups);
});

test("of ends it is told how much they write, too: more of more", async () => {
  using scratch = scratchFolder();
  await using parts = openParts(scratch.path, WINDOW_LIMITS);
  await persist(
    parts,
    Array.from({ length: 200 }, (_, i) => outboxRecord(`r${i}`)),
  );
  const told: number[] = [];
  const file = {
    write(job: Parameters<typeof parts.file.write>[0]) {
      told.push(job.bytes);
      return parts.file.write(job);
    },
  };
  for (const limit of [1, 100]) {
    const claims = await claim(parts, { ...ROUTE, limit, loanMs: 60_000 }, signal);
    const ends = claims.map((lent) => end(lent, { kind: "done" }));
    await finish({ ...parts, file: file as unknown as FileDatabase<OutboxStatements> }, ends);
    expect(told.at(-1)).toBeGreaterThan(10 * limit);
  }
});
