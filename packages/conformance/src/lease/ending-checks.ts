import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { isDeepStrictEqual } from "node:util";
import { BridgeError, type LeaseStore } from "@bridge/ports";
import { type LeaseCheck, lease, withRestart, withStore } from "./check.ts";

type Call = (store: LeaseStore, signal: AbortSignal) => Promise<unknown>;

const KEY = "plant-7/aborting";

const CALLS = {
  read: (store, signal) => store.read(KEY, signal),
  take: (store, signal) => store.replace(KEY, undefined, lease(), signal),
  renew: (store, signal) => store.replace(KEY, lease(), lease({ beat: 2 }), signal),
} as const satisfies Record<string, Call>;

/** Cancellation, abrupt ends, and the end of a store. */
export const ENDING_CHECKS = {
  "an aborted read rejects with the signal's reason": aborted(CALLS.read),
  "an aborted replacement rejects with the signal's reason and writes nothing": aborted(CALLS.renew),
  "a replacement that is aborted on the way is made as a whole or not at all": withStore(async (owner) => {
    const next = lease({ holder: "b", token: 2, beat: 9, ttlMs: 5 });
    await owner.make(undefined, lease());
    const controller = new AbortController();
    const reason = new Error("given up");
    const outcome = owner.store.replace("plant-7/broker", lease(), next, controller.signal).then(
      (made) => ({ made }),
      (error: unknown) => ({ error }),
    );
    controller.abort(reason);
    const result = await outcome;
    if ("error" in result) assert.equal(result.error, reason, "it rejects with another error than the signal's reason");
    else assert.equal(result.made, true, "refused, though the record was the expected one");
    const now = await owner.read();
    const whole = isDeepStrictEqual(now && { ...now }, next);
    assert.ok(whole || (!("made" in result) && isDeepStrictEqual(now && { ...now }, lease())), "made in part");
  }),
  "leaves no listener on the signal": withStore(async ({ store }) => {
    const shared = new AbortController().signal;
    for (const call of Object.values<Call>(CALLS)) await call(store, shared);
    assert.equal(getEventListeners(shared, "abort").length, 0);
  }),
  "what was replaced survives an abrupt end": withRestart(
    async (owner) => {
      await owner.make(undefined, lease());
      await owner.make(lease(), lease({ beat: 2 }));
      await owner.make(undefined, lease({ token: 7 }), "plant-7/other");
    },
    async (owner) => {
      await owner.find(lease({ beat: 2 }));
      await owner.find(lease({ token: 7 }), "plant-7/other");
      await owner.find(undefined, "plant-7/never");
    },
  ),
  "what was stale before an abrupt end is refused after it": withRestart(
    async (owner) => {
      await owner.make(undefined, lease());
      await owner.make(lease(), lease({ holder: "b", token: 2, beat: 1 }));
    },
    async (owner) => {
      await owner.refuse(undefined, lease({ token: 3 }));
      await owner.refuse(lease(), lease({ beat: 2 }));
      await owner.make(lease({ token: 2 }), lease({ token: 3 }));
    },
  ),
  "disposing twice is once": async (subject, signal) => {
    const store = await subject.open();
    await store.replace(KEY, undefined, lease(), signal);
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
} as const satisfies Record<string, LeaseCheck>;

function aborted(call: Call): LeaseCheck {
  return withStore(async (owner) => {
    await owner.make(undefined, lease(), KEY);
    const reason = new Error("given up");
    await assert.rejects(call(owner.store, AbortSignal.abort(reason)), (error) => error === reason);
    await owner.find(lease(), KEY);
  });
}
