import { SuiteClock } from "@bridge/conformance";
import type { OutboxStore } from "@bridge/ports";
import { expect, test } from "vitest";
import { end, outboxRecord, ROUTE } from "./support/records.ts";
import { openScratchOutbox } from "./support/scratch-outbox.ts";

const { signal } = new AbortController();
const LOAN_MS = 1_000;
const CLAIM = { ...ROUTE, limit: 10, loanMs: LOAN_MS };

/** An outbox with one record, of which each sync after that waits to be let through. */
async function stage() {
  const clock = new SuiteClock(1_000_000);
  const syncs: PromiseWithResolvers<void>[] = [];
  let free = true;
  const sync = (): Promise<void> => {
    const next = Promise.withResolvers<void>();
    syncs.push(next);
    if (free) next.resolve();
    return next.promise;
  };
  const store: OutboxStore = openScratchOutbox({ clock, sync });
  await store.persist([outboxRecord("r")], signal);
  const [claim] = await store.claim(CLAIM, signal);
  if (claim === undefined) throw new Error("nothing was lent");
  free = false;
  const before = syncs.length;
  return {
    store,
    clock,
    claim,
    /** Resolves when a sync waits. */
    syncing: async () => {
      await expect.poll(() => syncs.length, { timeout: 20_000 }).toBeGreaterThan(before);
    },
    pass: () => {
      free = true;
      syncs.at(-1)?.resolve();
    },
    fail: () => {
      free = true;
      syncs.at(-1)?.reject(Object.assign(new Error("EIO: fdatasync"), { code: "EIO", syscall: "fdatasync" }));
    },
  };
}

const DONE = { kind: "done" } as const;
const RETRY = { kind: "retry", delayMs: 0, attempts: 1 } as const;

test.each([
  { when: "before", outcome: DONE, left: 0 },
  { when: "before", outcome: RETRY, left: 1 },
  { when: "while", outcome: DONE, left: 0 },
  { when: "while", outcome: RETRY, left: 1 },
])(
  "finding 10.1: a record whose loan lapses $when its end ($outcome.kind) is written is lent to nobody meanwhile",
  async ({ when, outcome, left }) => {
    const { store, clock, claim, syncing, pass } = await stage();
    await using _ = store;
    const lapse = async (): Promise<void> => {
      await clock.pass(LOAN_MS);
      // Whoever looks finds the loan lapsed; a limit of none lends nothing.
      expect(await store.claim({ ...CLAIM, limit: 0 }, signal)).toEqual([]);
    };
    if (when === "before") await lapse();
    const ended = store.finish([end(claim, outcome)], signal);
    await syncing();
    if (when === "while") await lapse();
    expect(await store.claim(CLAIM, signal)).toEqual([]);
    expect(await store.claimOne("r", LOAN_MS, signal)).toBeUndefined();
    pass();
    expect(await ended).toEqual([true]);
    expect(await store.claim(CLAIM, signal)).toHaveLength(left);
    expect((await store.backlog(signal)).length).toBe(left);
    expect(store.health?.().spoiled ?? 0).toBe(0);
  },
);

test("finding 10.1: a loan that would have lapsed while its end was not written lapses then, and the record is lent again", async () => {
  const { store, clock, claim, syncing, fail } = await stage();
  await using _ = store;
  const ended = Promise.allSettled([store.finish([end(claim, { kind: "retry", delayMs: 0, attempts: 1 })], signal)]);
  await syncing();
  await clock.pass(LOAN_MS);
  expect(await store.claim(CLAIM, signal)).toEqual([]);
  fail();
  expect(await ended).toMatchObject([{ status: "rejected", reason: { code: "UNAVAILABLE" } }]);
  const claimed = async (): Promise<number> => (await store.claim(CLAIM, signal).catch(() => [])).length;
  await expect.poll(claimed, { timeout: 20_000 }).toBe(1);
});
