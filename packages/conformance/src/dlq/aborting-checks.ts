import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { BridgeError, type DlqStore } from "@bridge/ports";
import { adminOf, assertAborts, assertSame, type DlqCheck, largestPayload, withStore } from "./check.ts";
import { deadLetter } from "./dead-letters.ts";

type Call = (store: DlqStore, signal: AbortSignal) => Promise<unknown>;

const ALL = { limit: 100, offset: 0 };

const CALLS = {
  put: (store, signal) => store.put(deadLetter("new"), signal),
  get: (store, signal) => store.get("e0000", signal),
  list: (store, signal) => store.list({}, ALL, signal),
  count: (store, signal) => store.count(10, signal),
  delete: (store, signal) => adminOf(store).delete(["e0000"], signal),
  deleteWhere: (store, signal) => adminOf(store).deleteWhere({}, undefined, signal),
} as const satisfies Record<string, Call>;

/** Cancellation, and the end of a store. */
export const ABORTING_CHECKS = {
  "an aborted put rejects with the signal's reason and writes nothing": assertAborts(CALLS.put),
  "an aborted get rejects with the signal's reason": assertAborts(CALLS.get),
  "an aborted list rejects with the signal's reason": assertAborts(CALLS.list),
  "an aborted count rejects with the signal's reason": assertAborts(CALLS.count),
  "an aborted delete rejects with the signal's reason and deletes nothing": assertAborts(CALLS.delete),
  "an aborted deleteWhere rejects with the signal's reason and deletes nothing": assertAborts(CALLS.deleteWhere),
  "a put that is aborted on the way leaves the entry whole or not at all": async (subject, signal) => {
    const large = deadLetter("large", { envelope: { payload: new Uint8Array(largestPayload(subject)).fill(7) } });
    await using store = await subject.open();
    const controller = new AbortController();
    const reason = new Error("given up");
    const put = store.put(large, controller.signal);
    controller.abort(reason);
    const outcome = await put.then(
      () => "written",
      (error: unknown) => error,
    );
    const kept = await store.get("large", signal);
    if (outcome !== "written") assert.equal(outcome, reason, "it rejects with another error than the signal's reason");
    if (outcome === "written" || kept !== undefined) assertSame(kept, large);
    await store.put(large, signal);
    assertSame(await store.get("large", signal), large);
  },
  "leaves no listener on the signal": withStore(async (store) => {
    const shared = new AbortController().signal;
    for (const call of Object.values<Call>(CALLS)) await call(store, shared);
    assert.equal(getEventListeners(shared, "abort").length, 0);
  }),
  "disposing twice is once": async (subject, signal) => {
    const store = await subject.open();
    await store.put(deadLetter("a"), signal);
    await store[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  },
  "a disposed store refuses work with a BridgeError": async (subject, signal) => {
    const store = await subject.open();
    await store[Symbol.asyncDispose]();
    for (const [name, call] of Object.entries<Call>(CALLS)) {
      await assert.rejects(call(store, signal), (error) => BridgeError.is(error), `${name} works on a disposed store`);
    }
  },
} as const satisfies Record<string, DlqCheck>;
