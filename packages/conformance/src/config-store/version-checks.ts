import assert from "node:assert/strict";
import type { ConfigStore, ConfigVersions } from "@bridge/ports";
import { assertStored, at, type ConfigStoreCheck, FIRST, loadOf, named, writeTo } from "./check.ts";

const KEPT = 20;

/** Former documents. */
export const VERSION_CHECKS = {
  "nothing is kept before something was replaced": at(async ({ store }, signal) => {
    await loadOf(store, signal);
    assert.deepEqual(await versionsOf(store).list(signal), []);
    assert.equal(await versionsOf(store).load(4, signal), undefined);
  }),
  "what a write replaces is kept, for every store": at(async (place, signal) => {
    const first = await writeTo(place.store, named("first"), await loadOf(place.store, signal), signal);
    await writeTo(place.store, named("second"), first, signal);
    for (const store of [place.store, await place.second()]) {
      assert.deepEqual(await versionsOf(store).list(signal), [5, 4]);
      assertStored(await versionsOf(store).load(4, signal), FIRST, 4);
      assertStored(await versionsOf(store).load(5, signal), named("first"), 5);
      assert.equal(await versionsOf(store).load(6, signal), undefined);
    }
  }),
  "what another hand wrote is kept when it is replaced": at(async (place, signal) => {
    await place.replace(named("by hand", { ...FIRST, config_version: 9 }));
    await writeTo(place.store, named("mine"), await loadOf(place.store, signal), signal);
    assertStored(await versionsOf(place.store).load(9, signal), named("by hand"), 9);
  }),
  "what is kept has a text, and can be written again": at(async ({ store }, signal) => {
    const written = await writeTo(store, named("new"), await loadOf(store, signal), signal);
    const kept = await versionsOf(store).load(4, signal);
    assert.ok(kept !== undefined, "version 4 is not kept");
    const text = await store.texts?.of(kept, signal);
    await store.write(kept.document, written, signal, text?.text);
    assertStored(await store.load(signal), FIRST, 6);
  }),
  "the newest 20 versions are kept": at(async ({ store }, signal) => {
    let stored = await loadOf(store, signal);
    for (let i = 0; i < KEPT + 3; i++) stored = await writeTo(store, named(`${i}`), stored, signal);
    const newest = stored.version - 1;
    assert.deepEqual(
      await versionsOf(store).list(signal),
      Array.from({ length: KEPT }, (_, i) => newest - i),
    );
    assert.equal(await versionsOf(store).load(newest - KEPT, signal), undefined);
    assertStored(await versionsOf(store).load(newest - KEPT + 1, signal), named("2"), newest - KEPT + 1);
  }),
  "what was taken back is kept, to be mended": at(async (place, signal) => {
    const { store } = place;
    const former = await loadOf(store, signal);
    const written = await writeTo(store, named("rejected"), former, signal);
    await store.restore(former, written, signal);
    const content = await place.content();
    await versionsOf(store).keepReverted(written, signal);
    assert.equal(await place.content(), content);
    for (const each of [store, await place.second()]) {
      assert.equal((await versionsOf(each).list(signal))[0], 5);
      assertStored(await versionsOf(each).load(5, signal), named("rejected"), 5);
    }
  }),
  "those that were taken back are among the 20": at(async ({ store }, signal) => {
    let former = await loadOf(store, signal);
    for (let i = 0; i < KEPT + 2; i++) {
      const rejected = await writeTo(store, named(`rejected ${i}`), former, signal);
      await store.restore(former, rejected, signal);
      await versionsOf(store).keepReverted(rejected, signal);
      former = await writeTo(store, named(`${i}`), { ...former, version: rejected.version }, signal);
    }
    const kept = await versionsOf(store).list(signal);
    assert.equal(kept.length, KEPT);
    assert.deepEqual(
      kept,
      [...new Set(kept)].toSorted((a, b) => b - a),
    );
    assert.equal(kept[0], former.version - 1);
    assertStored(await versionsOf(store).load(former.version - 1, signal), named(`rejected ${KEPT + 1}`), kept[0] ?? 0);
  }),
  "what is kept is not part of the document, and is in nobody's watch": at(async (place, signal) => {
    const former = await loadOf(place.store, signal);
    const written = await writeTo(place.store, named("new"), former, signal);
    const [content, seen] = [await place.content(), place.store.seen];
    await versionsOf(place.store).load(4, signal);
    await versionsOf(place.store).keepReverted(written, signal);
    assert.equal(await place.content(), content);
    assert.equal(place.store.seen, seen);
  }),
  "what is kept survives an abrupt end": at(async (place, signal) => {
    assert.ok(place.reopen !== undefined, "the place has no reopen: give one, or excuse the case");
    await writeTo(place.store, named("new"), await loadOf(place.store, signal), signal);
    assertStored(await versionsOf(await place.reopen()).load(4, signal), FIRST, 4);
  }),
} as const satisfies Record<string, ConfigStoreCheck>;

function versionsOf(store: ConfigStore): ConfigVersions {
  assert.ok(store.versions !== undefined, "the store keeps no versions");
  return store.versions;
}
