import assert from "node:assert/strict";
import type { LeaseRecord, LeaseStore } from "@bridge/ports";
import { Hands } from "./hands.ts";
import type { LeaseStoreSubject } from "./lease-store-subject.ts";

/** What a case does with the stores of its subject. Rejects when they do not pass. */
export type LeaseCheck = (subject: LeaseStoreSubject, signal: AbortSignal) => Promise<void>;

/** A check that needs a store; `other` is somebody else on the same leases, with a handle of its own if there is one. */
export function withStore(check: (owner: Hands, other: Hands, signal: AbortSignal) => Promise<void>): LeaseCheck {
  return async (subject, signal) => {
    await using store = await subject.open();
    const owner = new Hands(store, signal);
    if (subject.second === undefined) return await check(owner, owner, signal);
    await using second = await subject.second(store);
    return await check(owner, new Hands(second, signal), signal);
  };
}

/** A check that ends a store abruptly after `before` and looks at what is left in `after`. */
export function withRestart(
  before: (owner: Hands) => Promise<void>,
  after: (owner: Hands) => Promise<void>,
): LeaseCheck {
  return async (subject, signal) => {
    assert.ok(subject.reopen !== undefined, "the subject has no reopen: give one, or excuse the case");
    const store = await subject.open();
    await before(new Hands(store, signal));
    await using reopened: LeaseStore = await subject.reopen(store);
    await after(new Hands(reopened, signal));
  };
}

/** A lease that somebody holds; what a case does not care about has a default. */
export function lease(change: Partial<LeaseRecord> = {}): LeaseRecord {
  return { holder: "plant-7-a/5f1d", token: 1, beat: 1, ttlMs: 20_000, ...change };
}
