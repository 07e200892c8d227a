import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { ReadOnlyConfigError, type StagedConfig } from "@bridge/ports";
import { assertStored, at, writeTo } from "../config-store/check.ts";
import type { ConfigPlace } from "../config-store/config-store-subject.ts";
import { BY_A, BY_B, type ConfigStoreCheck, FIRST, LATER_BY_B, loadOf, named, stage, stagingOf } from "./check.ts";

const RACERS = 20;

/** What must not come about. */
export const REFUSING_CHECKS = {
  "nothing is staged beside another's try": at(async (place, signal) => {
    const staged = await stage(place.store, signal);
    const second = await place.second();
    const seen = await loadOf(second, signal);
    for (const request of [BY_B, BY_A])
      assert.equal(await stagingOf(second).stage(named("theirs"), seen, request, signal), undefined);
    assert.deepEqual(await stagingOf(second).look(signal), staged);
    assert.equal(await stagingOf(place.store).confirm(staged, signal), true);
    assertStored(await second.load(signal), named("staged"), 5);
  }),
  "what was left behind is replaced, and cannot be confirmed any more": at(async (place, signal) => {
    const former = await stage(place.store, signal);
    const second = await place.second();
    const staged = await stage(second, signal, { document: named("theirs"), request: LATER_BY_B });
    assert.equal(await stagingOf(place.store).confirm(former, signal), false);
    await stagingOf(place.store).discard(former, signal);
    assert.equal(await stagingOf(second).confirm(staged, signal), true);
    assertStored(await place.store.load(signal), named("theirs"), 5);
  }),
  "what is on probation is left behind by its end, not by its beginning": at(async (place, signal) => {
    const until = LATER_BY_B.leftBehindBefore;
    const tried = await stage(place.store, signal, { request: { ...BY_A, until } });
    const second = await place.second();
    const seen = await loadOf(second, signal);
    assert.equal(await stagingOf(second).stage(named("theirs"), seen, LATER_BY_B, signal), undefined);
    assert.deepEqual(await stagingOf(second).look(signal), tried);
    const later = { ...LATER_BY_B, leftBehindBefore: until + 1 };
    await stage(second, signal, { document: named("theirs"), request: later });
    assert.equal(await stagingOf(place.store).confirm(tried, signal), false);
  }),
  "nothing is staged over a version that moved": at(async (place, signal) => {
    const seen = await loadOf(place.store, signal);
    await writeTo(await place.second(), named("first"), seen, signal);
    assert.equal(await stagingOf(place.store).stage(named("second"), seen, BY_A, signal), undefined);
    assert.equal(await stagingOf(place.store).look(signal), undefined);
  }),
  "nothing is staged over what another hand did": at(async (place, signal) => {
    const seen = await loadOf(place.store, signal);
    for (const hand of HANDS) {
      await hand(place);
      assert.equal(await stagingOf(place.store).stage(named("mine"), seen, BY_A, signal), undefined);
    }
  }),
  "nothing is confirmed over what another hand did": at(async (place, signal) => {
    for (const hand of HANDS) {
      await place.replace(FIRST);
      const staged = await stage(place.store, signal);
      await hand(place);
      const content = await place.content();
      assert.equal(await stagingOf(place.store).confirm(staged, signal), false);
      assert.equal(await place.content(), content);
    }
  }),
  "a write and an undoing take away what is staged": at(async (place, signal) => {
    const former = await loadOf(place.store, signal);
    const first = await stage(place.store, signal);
    const written = await writeTo(await place.second(), named("theirs"), former, signal);
    assert.equal(await stagingOf(place.store).confirm(first, signal), false);
    const second = await stage(place.store, signal);
    const other = await place.second();
    const loaded = await loadOf(other, signal);
    assert.deepEqual(loaded, written);
    const next = await writeTo(other, named("next"), loaded, signal);
    const third = await stage(place.store, signal);
    assert.equal(await other.restore(loaded, next, signal), true);
    for (const staged of [second, third]) assert.equal(await stagingOf(place.store).confirm(staged, signal), false);
    assert.equal(await stagingOf(place.store).look(signal), undefined);
    assertStored(await place.store.load(signal), named("theirs"), 5);
  }),
  "of instances that stage at once, one does": at(async (place, signal) => {
    const seen = await loadOf(place.store, signal);
    const other = await place.second();
    const stores = Array.from({ length: RACERS }, (_, i) => (i % 2 === 0 ? place.store : other));
    const results = await Promise.all(
      stores.map((store, i) =>
        stagingOf(store).stage(named(`racer-${i}`), seen, { ...BY_A, by: `racer-${i}` }, signal),
      ),
    );
    const [winner, ...others] = results.filter((staged): staged is StagedConfig => staged !== undefined);
    assert.ok(winner !== undefined && others.length === 0, `${others.length + 1} were told that theirs is staged`);
    assert.deepEqual(await stagingOf(other).look(signal), winner);
    assert.equal(await stagingOf(other).confirm(winner, signal), true);
    assertStored(await place.store.load(signal), named(winner.by), 5);
  }),
  "of a confirmation and a replacement that race, one is done": at(async (place, signal) => {
    const staged = await stage(place.store, signal);
    const second = await place.second();
    const seen = await loadOf(second, signal);
    const [confirmed, replacement] = await Promise.all([
      stagingOf(place.store).confirm(staged, signal),
      stagingOf(second).stage(named("theirs"), seen, LATER_BY_B, signal),
    ]);
    assert.notEqual(confirmed, replacement !== undefined, "both were told that they were done, or neither");
    const [document, version] = confirmed ? [named("staged"), 5] : [FIRST, 4];
    assertStored(await place.store.load(signal), document, version);
  }),
  "what is staged survives an abrupt end, to no effect": at(async (place, signal) => {
    assert.ok(place.reopen !== undefined, "the place has no reopen: give one, or excuse the case");
    const staged = await stage(place.store, signal);
    const reopened = await place.reopen();
    assertStored(await reopened.load(signal), FIRST, 4);
    assert.deepEqual(await stagingOf(reopened).look(signal), staged);
  }),
  "a read-only document cannot be staged over": async (subject, signal) => {
    assert.ok(subject.openReadOnly !== undefined, "the subject has no openReadOnly: give one, or excuse the case");
    await using place = await subject.openReadOnly(FIRST);
    const seen = await loadOf(place.store, signal);
    const staging = stagingOf(place.store).stage(named("new"), seen, BY_A, signal);
    await assert.rejects(staging, (error) => error instanceof ReadOnlyConfigError && error.message !== "");
  },
  "aborted calls reject with the signal's reason and change nothing": at(async (place, signal) => {
    const staging = stagingOf(place.store);
    const seen = await loadOf(place.store, signal);
    const reason = new Error("given up");
    const aborted = AbortSignal.abort(reason);
    const rejects = (call: Promise<unknown>): Promise<void> => assert.rejects(call, (error) => error === reason);
    await rejects(staging.stage(named("new"), seen, BY_A, aborted));
    await rejects(staging.look(aborted));
    assert.equal(await staging.look(signal), undefined);
    const staged = await stage(place.store, signal);
    await rejects(staging.confirm(staged, aborted));
    await rejects(staging.discard(staged, aborted));
    assert.deepEqual(await staging.look(signal), staged);
    const shared = new AbortController().signal;
    await staging.look(shared);
    await staging.confirm(staged, shared);
    await staging.discard(staged, shared);
    assert.equal(getEventListeners(shared, "abort").length, 0);
  }),
} as const satisfies Record<string, ConfigStoreCheck>;

/** What somebody does who knows nothing of stores. */
const HANDS: readonly ((place: ConfigPlace) => Promise<void>)[] = [
  (place) => place.replace(named("by hand")),
  (place) => place.damage("canary"),
  (place) => place.remove(),
];
