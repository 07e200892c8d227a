import assert from "node:assert/strict";
import { assertStored, at, type ConfigStoreCheck, FIRST, loadOf, named } from "./check.ts";

/** What is there, as people wrote it. */
export const LOADING_CHECKS = {
  "loads what is stored, references as they are written": at(async ({ store }, signal) => {
    assertStored(await store.load(signal), FIRST, 4);
  }),
  "says where it comes from": at(async ({ store }) => {
    assert.notEqual(store.source.trim(), "");
  }),
  "a document without config_version has version 0": at(
    async ({ store }, signal) => {
      const { version, document } = await loadOf(store, signal);
      assert.equal(version, 0);
      assert.deepEqual({ ...document }, { bridge: { id: "plant-7" } });
    },
    { bridge: { id: "plant-7" } },
  ),
  "loads undefined when there is nothing": async (subject, signal) => {
    await using place = await subject.open(undefined);
    assert.equal(await place.store.load(signal), undefined);
    await place.replace(FIRST);
    assertStored(await place.store.load(signal), FIRST, 4);
    await place.remove();
    assert.equal(await place.store.load(signal), undefined);
  },
  "what cannot be parsed is an error that does not quote it": at(async (place, signal) => {
    await place.damage("canary-in-the-damage");
    await assert.rejects(place.store.load(signal), (error) => {
      assert.ok(error instanceof Error && error.message !== "");
      assert.ok(!error.message.includes("canary-in-the-damage"), "the error quotes what is stored");
      return true;
    });
  }),
  "names what it has seen last, and another content by another name": at(async (place, signal) => {
    const { store } = place;
    assert.equal(store.seen, undefined);
    await store.load(signal);
    const first = store.seen;
    assert.notEqual(first, undefined);
    await store.load(signal);
    assert.equal(store.seen, first);
    await place.replace({ ...FIRST, another: true });
    assert.equal(store.seen, first);
    await store.load(signal);
    assert.notEqual(store.seen, first);
    await place.remove();
    await store.load(signal);
    assert.ok(store.seen !== undefined && store.seen !== first);
  }),
  "the revision stays while nobody writes, and is the same for every store": at(async (place, signal) => {
    const { revision } = await loadOf(place.store, signal);
    assert.equal((await loadOf(place.store, signal)).revision, revision);
    assert.equal((await loadOf(await place.second(), signal)).revision, revision);
  }),
  "another hand changes the revision, also when it leaves the version alone": at(async (place, signal) => {
    const former = await loadOf(place.store, signal);
    await place.replace(named("other"));
    const stored = await loadOf(place.store, signal);
    assertStored(stored, named("other"), 4);
    assert.notEqual(stored.revision, former.revision);
    assertStored(former, FIRST, 4);
  }),
} as const satisfies Record<string, ConfigStoreCheck>;
