import { SuiteClock } from "@bridge/conformance";
import { BridgeError, type OutboxClaim, type OutboxStore } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { end, outboxRecord, ROUTE } from "./support/records.ts";
import { openScratchOutbox } from "./support/scratch-outbox.ts";

const { signal } = new AbortController();
const CLAIM = { ...ROUTE, limit: 10, loanMs: 60_000 };

type Call = (store: OutboxStore, lent: OutboxClaim, signal: AbortSignal) => Promise<unknown>;

const CALLS: Readonly<Record<string, Call>> = {
  persist: (store, _, given) => store.persist([outboxRecord("new")], given),
  claim: (store, _, given) => store.claim(CLAIM, given),
  claimOne: (store, _, given) => store.claimOne("lapsed", 60_000, given),
  finish: (store, lent, given) => store.finish([end(lent, { kind: "done" })], given),
  status: (store, _, given) => store.status("waiting", given),
  redriving: (store, _, given) => store.redriving("entry", given),
  backlog: (store, _, given) => store.backlog(given),
  blockedKeys: async (store, _, given) => store.blockedKeys?.({}, 10, given),
  list: (store, _, given) => store.list({}, { limit: 10, offset: 0 }, given),
};

/** An outbox with a record that is lent, one whose loan has lapsed, and one that waits. */
async function stage() {
  const clock = new SuiteClock(1_000_000);
  const store = openScratchOutbox({ clock });
  await store.persist(
    ["lent", "lapsed", "waiting"].map((id) => outboxRecord(id)),
    signal,
  );
  const lent = await store.claimOne("lent", 60_000, signal);
  const lapsed = await store.claimOne("lapsed", 1_000, signal);
  if (lent === undefined || lapsed === undefined) throw new Error("nothing was lent");
  await clock.pass(1_000);
  return { store, lent, lapsed };
}

describe.each(Object.entries(CALLS).map(([name, call]) => ({ name, call })))("$name", ({ call }) => {
  test("that was given up before it began rejects with the reason, and nothing of it is done", async () => {
    const { store, lent, lapsed } = await stage();
    await using _ = store;
    const reason = new Error("given up");
    await expect(call(store, lent, AbortSignal.abort(reason))).rejects.toBe(reason);
    // Written after what the call would have written.
    await store.persist([outboxRecord("later")], signal);
    const heads = await store.list({}, { limit: 10, offset: 0 }, signal);
    expect(heads.map(({ id, lent: isLent }) => [id, isLent])).toEqual([
      ["lent", true],
      ["lapsed", false],
      ["waiting", false],
      ["later", false],
    ]);
    // Who had it may still end it, as nobody else has got it.
    expect(await store.finish([end(lapsed, { kind: "done" })], signal)).toEqual([true]);
    expect((await store.claim(CLAIM, signal)).map(({ record }) => record.id)).toEqual(["waiting", "later"]);
  });

  test("of an outbox that is closed is refused, and charged to nobody", async () => {
    const { store, lent } = await stage();
    await store[Symbol.asyncDispose]();
    const refused = call(store, lent, signal);
    await expect(refused).rejects.toBeInstanceOf(BridgeError);
    await expect(refused).rejects.toMatchObject({ code: "UNAVAILABLE", charged: false });
  });
});
