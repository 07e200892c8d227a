import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { at, type ConfigStoreCheck, FIRST, loadOf, named, writeTo } from "./check.ts";
import type { ConfigPlace } from "./config-store-subject.ts";

type Call = (place: ConfigPlace, signal: AbortSignal) => Promise<unknown>;

const NEVER = new AbortController().signal;

const CALLS = {
  load: ({ store }, signal) => store.load(signal),
  write: async ({ store }, signal) => store.write(named("new"), await loadOf(store, NEVER), signal),
  restore: async ({ store }, signal) => {
    const stored = await loadOf(store, NEVER);
    return store.restore(stored, stored, signal);
  },
} as const satisfies Record<string, Call>;

/** Cancellation, and the end of a store. */
export const ENDING_CHECKS = {
  "an aborted load rejects with the signal's reason": aborted(CALLS.load),
  "an aborted write rejects with the signal's reason and writes nothing": aborted(CALLS.write),
  "an aborted restore rejects with the signal's reason and writes nothing": aborted(CALLS.restore),
  "a write that is aborted on the way is done as a whole or not at all": at(async (place, signal) => {
    const before = await place.content();
    const seen = await loadOf(place.store, signal);
    const controller = new AbortController();
    const reason = new Error("given up");
    const writing = place.store.write({ ...FIRST, long: "x".repeat(200_000) }, seen, controller.signal);
    setImmediate(() => controller.abort(reason));
    const outcome = await writing.catch((error: unknown) => error);
    if (outcome === reason) {
      const stored = await loadOf(place.store, signal);
      if (stored.version === 4) assert.equal(await place.content(), before);
      else assert.equal((stored.document["long"] as string).length, 200_000);
    } else {
      assert.equal(
        (outcome as { version?: unknown }).version,
        5,
        "it rejects with another error than the signal's reason",
      );
    }
    await writeTo(place.store, named("next"), await loadOf(place.store, signal), signal);
  }),
  "leaves no listener on the signal": at(async (place) => {
    const shared = new AbortController().signal;
    for (const call of Object.values<Call>(CALLS)) await call(place, shared);
    await place.store.history?.list(shared);
    assert.equal(getEventListeners(shared, "abort").length, 0);
  }),
  "disposing twice is once": at(async ({ store }, signal) => {
    await store.load(signal);
    await store[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  }),
} as const satisfies Record<string, ConfigStoreCheck>;

function aborted(call: Call): ConfigStoreCheck {
  return at(async (place) => {
    const content = await place.content();
    const reason = new Error("given up");
    await assert.rejects(call(place, AbortSignal.abort(reason)), (error) => error === reason);
    assert.equal(await place.content(), content);
  });
}
