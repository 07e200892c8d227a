import { SuiteClock } from "@bridge/conformance";
import type { OutboxStore } from "@bridge/ports";
import { expect, test } from "vitest";
import { end, outboxRecord, ROUTE } from "./support/records.ts";
import { openScratchOutbox } from "./support/scratch-outbox.ts";

const { signal } = new AbortController();
const CLAIM = { ...ROUTE, limit: 1_000, loanMs: 60_000 };
const FULL = /holds max_bytes \d+: let it drain, or raise max_bytes/;

/** Persists records until there is no room for more; returns their ids. */
async function fill(store: OutboxStore, bytes: number, idOf = (n: number) => `r${n}`): Promise<readonly string[]> {
  const ids: string[] = [];
  const persistOn = async (): Promise<void> => {
    for (;;) {
      const id = idOf(ids.length);
      await store.persist([outboxRecord(id, {}, bytes)], signal);
      ids.push(id);
    }
  };
  await expect(persistOn()).rejects.toThrow(FULL);
  return ids;
}

async function deliver(store: OutboxStore, limit: number): Promise<number> {
  const claims = await store.claim({ ...CLAIM, limit }, signal);
  const ends = claims.map((claim) => end(claim, { kind: "done" }));
  expect(await store.finish(ends, signal)).toEqual(ends.map(() => true));
  return ends.length;
}

test("at max_bytes records are refused, and go on when some are finished", async () => {
  await using store = openScratchOutbox({ maxBytes: 1024 * 1024 });
  await fill(store, 30_000);
  expect(await deliver(store, 5)).toBe(5);
  expect(await store.persist([outboxRecord("more")], signal)).toEqual([{ kind: "persisted" }]);
});

test("at max_bytes what is there is delivered, also after the disk has failed for a moment", async () => {
  const disk = { fails: false };
  const sync = () => (disk.fails ? Promise.reject(new Error("no answer")) : Promise.resolve());
  await using store = openScratchOutbox({ maxBytes: 1024 * 1024, sync });
  const ids = await fill(store, 30_000);
  const head = await store.claimOne("r0", 60_000, signal);
  disk.fails = true;
  const again = end(head!, { kind: "retry", delayMs: 60_000, attempts: 1 });
  await expect(store.finish([again], signal)).rejects.toThrow("no answer");
  disk.fails = false;
  const claims = await store.claim(CLAIM, signal);
  expect(claims.map(({ record }) => record.id)).toEqual(ids.slice(1));
});

test("at max_bytes what is remembered of finished records is forgotten in its time, and makes room for others", async () => {
  const clock = new SuiteClock(1_000_000);
  await using store = openScratchOutbox({ maxBytes: 256 * 1024, retentionMs: 60_000, clock });
  let written = 0;
  // Long ids, so that what is remembered of a record takes more than the record itself.
  do await fill(store, 10, () => `r${written++}`.padEnd(4_000, "-"));
  while ((await deliver(store, 1_000)) > 0);
  const persist = () => store.persist([outboxRecord("more")], signal);
  await expect(persist()).rejects.toThrow(FULL);
  // The sweep writes to a real disk, for which the clock of the test does not wait.
  const later = async () => (await clock.pass(60_000), persist().catch(() => "refused"));
  await expect.poll(later).toEqual([{ kind: "persisted" }]);
});
