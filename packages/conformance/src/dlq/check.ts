import assert from "node:assert/strict";
import { type DeadLetter, deadLetterHead, type DeadLetterHead, type DlqAdmin, type DlqStore } from "@bridge/ports";
import { deadLetters } from "./dead-letters.ts";
import type { DlqStoreSubject } from "./dlq-store-subject.ts";

/** What a case does with the stores of its subject. Rejects when they do not pass. */
export type DlqCheck = (subject: DlqPlace, signal: AbortSignal) => Promise<void>;

/** Where its stores are. */
type DlqPlace = Omit<DlqStoreSubject, "except">;

/** A check that needs one store. */
export function withStore(check: (store: DlqStore, signal: AbortSignal) => Promise<void>): DlqCheck {
  return async (subject, signal) => {
    await using store = await subject.open();
    await check(store, signal);
  };
}

/** A check that needs two handles on the same entries. */
export function withTwo(check: (one: DlqStore, other: DlqStore, signal: AbortSignal) => Promise<void>): DlqCheck {
  return async (subject, signal) => {
    await using store = await subject.open();
    if (subject.second === undefined) return await check(store, store, signal);
    await using other = await subject.second(store);
    return await check(store, other, signal);
  };
}

/** A check that ends a store abruptly after `before` and looks at what is left in `after`. */
export function withRestart(
  before: (store: DlqStore, signal: AbortSignal) => Promise<void>,
  after: (store: DlqStore, signal: AbortSignal) => Promise<void>,
): DlqCheck {
  return async (subject, signal) => {
    assert.ok(subject.reopen !== undefined, "the subject has no reopen: give one, or excuse the case");
    const store = await subject.open();
    await before(store, signal);
    await using reopened = await subject.reopen(store);
    await after(reopened, signal);
  };
}

/** The size of what counts as a large payload for a subject. */
export function largestPayload({ maxPayload = 1024 * 1024 }: DlqPlace): number {
  return maxPayload;
}

export function adminOf(store: DlqStore): DlqAdmin {
  assert.ok(store.admin !== undefined, "the store has no deleting half");
  return store.admin;
}

/** A check that an aborted call rejects with the signal's reason and leaves three entries as they are; `look` looks on. */
export function assertAborts(
  call: (store: DlqStore, signal: AbortSignal) => Promise<unknown>,
  look?: (store: DlqStore, signal: AbortSignal) => Promise<void>,
): DlqCheck {
  return withStore(async (store, signal) => {
    await putAll(store, deadLetters(3), signal);
    const reason = new Error("given up");
    await assert.rejects(call(store, AbortSignal.abort(reason)), (error) => error === reason);
    assert.deepEqual(await idsOf(store, signal), ["e0000", "e0001", "e0002"]);
    await look?.(store, signal);
  });
}

export async function putAll(store: DlqStore, entries: readonly DeadLetter[], signal: AbortSignal): Promise<void> {
  await Promise.all(entries.map((entry) => store.put(entry, signal)));
}

export async function idsOf(store: DlqStore, signal: AbortSignal): Promise<readonly string[]> {
  return (await store.list({}, { limit: 10_000, offset: 0 }, signal)).map(({ id }) => id);
}

/** Compares in full; bytes by their values, whatever class holds them. */
export function assertSame(actual: DeadLetter | undefined, expected: DeadLetter): void {
  assert.ok(actual !== undefined, `entry ${expected.id} is not there`);
  assert.deepEqual(headOf(actual), headOf(expected));
  const { payload, ...envelope } = plain(actual.envelope);
  const { payload: expectedPayload, ...expectedEnvelope } = plain(expected.envelope);
  assert.deepEqual(envelope, expectedEnvelope);
  assert.ok(payload instanceof Uint8Array, "the payload is no Uint8Array");
  assert.equal(payload.length, expectedPayload.length, "the payload has another length");
  assert.ok(Buffer.from(payload).equals(expectedPayload), "the payload has other bytes");
}

/** What a list shows of an entry. */
export function headOf(entry: DeadLetter): DeadLetterHead {
  return deadLetterHead(plain(entry));
}

/** Without what is `undefined`: it may be there or not. */
function plain<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;
}
