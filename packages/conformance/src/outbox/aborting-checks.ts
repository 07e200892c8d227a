import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { BridgeError, type OutboxStore } from "@bridge/ports";
import { type OutboxCheck, staged } from "./check.ts";
import { idsAt, record, records } from "./outbox-records.ts";
import { endOf } from "./owner.ts";

type Call = (store: OutboxStore, signal: AbortSignal) => Promise<unknown>;

const REQUEST = { routeId: "route", bindingId: "binding", limit: 10, loanMs: 1_000 };
const UNKNOWN_END = { id: "unknown", token: "token", outcome: { kind: "done" } } as const;

const CALLS = {
  persist: (store, signal) => store.persist([record("new")], signal),
  claim: (store, signal) => store.claim(REQUEST, signal),
  claimOne: (store, signal) => store.claimOne("r0000", 1_000, signal),
  finish: (store, signal) => store.finish([UNKNOWN_END], signal),
  status: (store, signal) => store.status("r0000", signal),
  redriving: (store, signal) => store.redriving("entry", signal),
  backlog: (store, signal) => store.backlog(signal),
  list: (store, signal) => store.list({}, { limit: 10, offset: 0 }, signal),
} as const satisfies Record<string, Call>;

/** Cancellation, and the end of a store. */
export const ABORTING_CHECKS = {
  "an aborted persist rejects with the signal's reason": aborted(CALLS.persist),
  "an aborted claim rejects with the signal's reason": aborted(CALLS.claim),
  "an aborted claimOne rejects with the signal's reason": aborted(CALLS.claimOne),
  "an aborted finish rejects with the signal's reason": aborted(CALLS.finish),
  "an aborted status rejects with the signal's reason": aborted(CALLS.status),
  "an aborted redriving rejects with the signal's reason": aborted(CALLS.redriving),
  "an aborted backlog rejects with the signal's reason": aborted(CALLS.backlog),
  "an aborted list rejects with the signal's reason": aborted(CALLS.list),
  "a persist that is aborted on the way can be repeated": staged(async ({ owner }) => {
    const entries = records(20, () => ({ envelope: { payload: new Uint8Array(50_000).fill(7) } }));
    await abortedOnTheWay((signal) => owner.store.persist(entries, signal));
    for (const [i, result] of (await owner.persist(...entries)).entries()) {
      const itself = { kind: "duplicate", id: entries[i]?.id, status: "pending" };
      if (result.kind !== "persisted") assert.deepEqual(result, itself);
    }
    assert.deepEqual(
      await owner.claimIds(),
      entries.map(({ id }) => id),
    );
  }),
  "a claim that is aborted on the way loses no record": staged(async ({ owner, time }) => {
    await owner.add(...records(10));
    await abortedOnTheWay((signal) => owner.store.claim(REQUEST, signal));
    await time.pass(REQUEST.loanMs);
    assert.deepEqual(await owner.claimIds(), idsAt(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  }),
  "a finish that is aborted on the way can be repeated": staged(async ({ owner }) => {
    await owner.add(...records(10));
    const ends = (await owner.claim()).map((claim) => endOf(claim, { kind: "done" }));
    await abortedOnTheWay((signal) => owner.store.finish(ends, signal));
    await owner.finish(...ends);
    for (const { id } of ends) assert.equal(await owner.status(id), "done");
  }),
  "leaves no listener on the signal": staged(async ({ owner }) => {
    await owner.add(...records(3));
    const shared = new AbortController().signal;
    for (const call of Object.values<Call>(CALLS)) await call(owner.store, shared);
    assert.equal(getEventListeners(shared, "abort").length, 0);
  }),
  "disposing twice is once": staged(async ({ owner }) => {
    await owner.add(record("a"));
    await owner.store[Symbol.asyncDispose]();
    await owner.store[Symbol.asyncDispose]();
  }),
  "a disposed store refuses work with a BridgeError": staged(async ({ owner, signal }) => {
    await owner.add(record("a"));
    await owner.store[Symbol.asyncDispose]();
    for (const [name, call] of Object.entries<Call>(CALLS)) {
      await assert.rejects(call(owner.store, signal), (error) => BridgeError.is(error), `${name} works still`);
    }
  }),
} as const satisfies Record<string, OutboxCheck>;

function aborted(call: Call): OutboxCheck {
  return staged(async ({ owner }) => {
    await owner.add(...records(3, () => ({ entryId: "entry" })));
    const reason = new Error("given up");
    await assert.rejects(call(owner.store, AbortSignal.abort(reason)), (error) => error === reason);
  });
}

/** Aborts a call that has begun. It may have been done by then; else it rejects with the signal's reason. */
async function abortedOnTheWay(call: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const controller = new AbortController();
  const reason = new Error("given up");
  const outcome = call(controller.signal).then(
    () => reason,
    (error: unknown) => error,
  );
  controller.abort(reason);
  assert.equal(await outcome, reason, "it rejects with another error than the signal's reason");
}
