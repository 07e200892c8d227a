import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { assertStored, at, writeTo } from "../config-store/check.ts";
import { beginWatch, LOOK_MS } from "../config-store/begin-watch.ts";
import { BY_A, type ConfigStoreCheck, FIRST, loadOf, named, stage, stagingOf } from "./check.ts";

/** From a try to what everybody runs. */
export const CONFIRMING_CHECKS = {
  "what is staged is not loaded, and is in nobody's watch": at(async (place, signal) => {
    const second = await place.second();
    const former = await loadOf(second, signal);
    await using watch = beginWatch(second, signal);
    const told = watch.next();
    await stage(place.store, signal);
    for (const store of [place.store, second]) assert.deepEqual(await loadOf(store, signal), former);
    await delay(LOOK_MS);
    await place.replace(named("by hand"));
    const change = await told;
    assert.equal(change.kind, "changed");
    assertStored(change.stored, named("by hand"), 4);
  }),
  "what is confirmed is what everybody loads, as the next version": at(async (place, signal) => {
    const staged = await stage(place.store, signal);
    assert.equal(await stagingOf(place.store).confirm(staged, signal), true);
    for (const store of [place.store, await place.second()]) {
      const stored = await loadOf(store, signal);
      assertStored(stored, named("staged"), 5);
      assert.deepEqual([stored.version, stored.revision], [staged.version, staged.revision]);
      assert.equal(await stagingOf(store).look(signal), undefined);
    }
  }),
  "the first document that is staged over one without a version is version 1": at(
    async ({ store }, signal) => {
      const staged = await stage(store, signal, { document: { bridge: { id: "b" }, config_version: 77 } });
      await stagingOf(store).confirm(staged, signal);
      assertStored(await store.load(signal), { bridge: { id: "b" } }, 1);
    },
    { bridge: { id: "a" } },
  ),
  "what a confirmation replaces is kept": at(async (place, signal) => {
    const staged = await stage(place.store, signal);
    assert.deepEqual(await place.store.versions?.list(signal), []);
    await stagingOf(place.store).confirm(staged, signal);
    for (const store of [place.store, await place.second()]) {
      assert.deepEqual(await store.versions?.list(signal), [4]);
      assertStored(await store.versions?.load(4, signal), FIRST, 4);
    }
  }),
  "what was staged and taken back is kept, to be mended": at(async (place, signal) => {
    const staged = await stage(place.store, signal);
    await stagingOf(place.store).discard(staged, signal);
    await place.store.versions?.keepReverted({ version: staged.version, document: named("staged") }, signal);
    for (const store of [place.store, await place.second()])
      assertStored(await store.versions?.load(5, signal), named("staged"), 5);
    assertStored(await place.store.load(signal), FIRST, 4);
  }),
  "tells every store until when it is on probation": at(async (place, signal) => {
    const until = BY_A.at + 300_000;
    const staged = await stage(place.store, signal, { request: { ...BY_A, until } });
    assert.equal(staged.until, until);
    for (const store of [place.store, await place.second()])
      assert.deepEqual(await stagingOf(store).look(signal), staged);
    await stagingOf(place.store).confirm(staged, signal);
    assertStored(await (await place.second()).load(signal), named("staged"), 5);
  }),
  "confirming twice is once": at(async ({ store }, signal) => {
    const staged = await stage(store, signal);
    assert.equal(await stagingOf(store).confirm(staged, signal), true);
    assert.equal(await stagingOf(store).confirm(staged, signal), true);
    assertStored(await store.load(signal), named("staged"), 5);
  }),
  "what another store confirmed is told; what the store itself confirmed is not, and is seen": at(
    async (place, signal) => {
      const second = await place.second();
      for (const store of [place.store, second]) await store.load(signal);
      await using theirs = beginWatch(second, signal);
      await using own = beginWatch(place.store, signal);
      const told = own.next();
      await stagingOf(place.store).confirm(await stage(place.store, signal), signal);
      const change = await theirs.next();
      assert.equal(change.kind, "changed");
      assertStored(change.stored, named("staged"), 5);
      assert.equal(place.store.seen, second.seen);
      await delay(LOOK_MS);
      await place.replace(named("by hand"));
      const later = await told;
      assert.equal(later.kind, "changed");
      assertStored(later.stored, named("by hand"), 4);
    },
  ),
  "what is confirmed can be written and staged over": at(async ({ store }, signal) => {
    await stagingOf(store).confirm(await stage(store, signal), signal);
    await stagingOf(store).confirm(await stage(store, signal, { document: named("again") }), signal);
    await writeTo(store, named("mine"), await loadOf(store, signal), signal);
    assertStored(await store.load(signal), named("mine"), 7);
  }),
  "tells every store who staged what, and when": at(async (place, signal) => {
    const second = await place.second();
    assert.equal(await stagingOf(second).look(signal), undefined);
    const staged = await stage(place.store, signal);
    const { version, by, at: when } = staged;
    assert.deepEqual({ version, by, at: when }, { version: 5, by: BY_A.by, at: BY_A.at });
    for (const store of [place.store, second]) {
      assert.deepEqual(await stagingOf(store).look(signal), staged);
      assert.deepEqual(stagingOf(store).seen, staged);
    }
  }),
  "what loading sees is known without another look": at(async (place, signal) => {
    const second = await place.second();
    await second.load(signal);
    assert.equal(stagingOf(second).seen, undefined);
    const staged = await stage(place.store, signal);
    await second.load(signal);
    assert.deepEqual(stagingOf(second).seen, staged);
    await stagingOf(place.store).discard(staged, signal);
    await second.load(signal);
    assert.equal(stagingOf(second).seen, undefined);
  }),
  "what is discarded leaves everything as it was, and cannot be confirmed": at(async (place, signal) => {
    const content = await place.content();
    const staged = await stage(place.store, signal);
    await stagingOf(place.store).discard(staged, signal);
    assert.equal(await stagingOf(place.store).look(signal), undefined);
    assert.equal(await stagingOf(place.store).confirm(staged, signal), false);
    await stagingOf(place.store).discard(staged, signal);
    assert.equal(await place.content(), content);
    assertStored(await place.store.load(signal), FIRST, 4);
  }),
  "of several who discard, and of one who confirms, one is told that it was them": at(async (place, signal) => {
    const [one, other] = [stagingOf(place.store), stagingOf(await place.second())];
    const staged = await stage(place.store, signal);
    const did = await Promise.all([one, other, one].map(async (staging) => staging.discard(staged, signal)));
    assert.equal(did.filter(Boolean).length, 1);
    const again = await stage(place.store, signal);
    const ends = await Promise.all([one.confirm(again, signal), other.discard(again, signal)]);
    assert.equal(ends.filter(Boolean).length, 1);
    assert.equal(await one.discard(again, signal), false);
  }),
  "discarding does nothing to what is confirmed, or to another's try": at(async ({ store }, signal) => {
    const first = await stage(store, signal);
    await stagingOf(store).confirm(first, signal);
    await stagingOf(store).discard(first, signal);
    assertStored(await store.load(signal), named("staged"), 5);
    const second = await stage(store, signal, { document: named("second") });
    await stagingOf(store).discard(first, signal);
    assert.equal(await stagingOf(store).confirm(second, signal), true);
  }),
} as const satisfies Record<string, ConfigStoreCheck>;
