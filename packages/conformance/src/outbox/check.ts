import assert from "node:assert/strict";
import { type Envelope, type OutboxRecord, type OutboxStore, systemClock } from "@bridge/ports";
import { SuiteClock } from "../harness/suite-clock.ts";
import { EPOCH } from "./outbox-records.ts";
import type { OutboxStoreSubject, OutboxSuiteOptions } from "./outbox-store-subject.ts";
import { Owner } from "./owner.ts";

/** What a case does with the stores of its subject. Rejects when they do not pass. */
export type OutboxCheck = (subject: OutboxStoreSubject, signal: AbortSignal) => Promise<void>;

/** The time that the store of a case goes by. */
export interface SuiteTime {
  now(): number;
  pass(ms: number): Promise<void>;
  /** Sets the time of day by `ms`. */
  jump(ms: number): void;
}

export interface Stage {
  readonly owner: Owner;
  /** Somebody else on the same records, with a handle of its own if the subject gives one. */
  readonly other: Owner;
  readonly time: SuiteTime;
  readonly signal: AbortSignal;
}

/** A day, which no case lasts. */
const RETENTION_MS = 86_400_000;

/** A check that needs a store, opened with what the suite opens stores with. */
export function staged(check: (stage: Stage) => Promise<void>, retentionMs = RETENTION_MS): OutboxCheck {
  return async (subject, signal) => {
    const { options, time } = settingOf(subject, retentionMs);
    await using store = await subject.open(options);
    const owner = new Owner(store, signal);
    if (subject.second === undefined) return await check({ owner, other: owner, time, signal });
    await using second = await subject.second(store, options);
    return await check({ owner, other: new Owner(second, signal), time, signal });
  };
}

/** A check that ends a store abruptly after `before` and looks at what is left in `after`, which is given what `before` found. */
export function restarted<T>(
  before: (stage: Omit<Stage, "other">) => Promise<T>,
  after: (stage: Omit<Stage, "other">, found: T) => Promise<void>,
): OutboxCheck {
  return async (subject, signal) => {
    assert.ok(subject.reopen !== undefined, "the subject has no reopen: give one, or excuse the case");
    const { options, time } = settingOf(subject, RETENTION_MS);
    const store = await subject.open(options);
    const found = await before({ owner: new Owner(store, signal), time, signal });
    await using reopened: OutboxStore = await subject.reopen(store, options);
    await after({ owner: new Owner(reopened, signal), time, signal }, found);
  };
}

/** A check that has one record spoiled after `before`, and looks at what is left in `after`. */
export function spoilt(
  before: (stage: Omit<Stage, "other">) => Promise<void>,
  id: string,
  how: "changed" | "unreadable",
  after: (stage: Omit<Stage, "other">) => Promise<void>,
): OutboxCheck {
  return async (subject, signal) => {
    const spoil = subject.spoil?.bind(subject);
    assert.ok(spoil !== undefined, "the subject has no spoil: give one, or excuse the case");
    const reopen: NonNullable<OutboxStoreSubject["reopen"]> = (store, options) => spoil(store, id, how, options);
    await restarted(before, after)({ ...subject, reopen }, signal);
  };
}

function settingOf(
  subject: OutboxStoreSubject,
  retentionMs: number,
): { readonly options: OutboxSuiteOptions; readonly time: SuiteTime } {
  if (subject.pass === undefined) {
    const clock = new SuiteClock(EPOCH);
    return { options: { clock, retentionMs }, time: clock };
  }
  const time = { now: () => systemClock.now(), pass: subject.pass.bind(subject), jump: refuseToJump };
  return { options: { clock: systemClock, retentionMs }, time };
}

function refuseToJump(): never {
  assert.fail("the subject has a time of its own, which cannot be set: excuse the case");
}

/** Compares in full; bytes by their values, whatever class holds them. */
export function assertSame(actual: OutboxRecord, expected: OutboxRecord): void {
  const { envelope, received, ...fields } = actual;
  const { envelope: expectedEnvelope, received: expectedReceived, ...expectedFields } = expected;
  assert.deepEqual(present(fields), present(expectedFields));
  assertSameEnvelope(envelope, expectedEnvelope);
  assert.equal(received === undefined, expectedReceived === undefined, "what was received is there, or is not");
  if (received !== undefined && expectedReceived !== undefined) assertSameEnvelope(received, expectedReceived);
}

function assertSameEnvelope(actual: Envelope, expected: Envelope): void {
  const { payload, headers, ...fields } = actual;
  const { payload: expectedPayload, headers: expectedHeaders, ...expectedFields } = expected;
  assert.deepEqual(present(fields), present(expectedFields));
  assert.deepEqual(present(headers), present(expectedHeaders));
  assert.ok(payload instanceof Uint8Array, "the payload is no Uint8Array");
  assert.equal(payload.length, expectedPayload.length, "the payload has another length");
  assert.ok(Buffer.from(payload).equals(expectedPayload), "the payload has other bytes");
}

/** A plain copy, without what is `undefined`: it may be there or not. */
function present(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined));
}
