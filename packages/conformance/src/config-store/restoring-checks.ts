import assert from "node:assert/strict";
import { assertStored, at, type ConfigStoreCheck, FIRST, loadOf, named, writeTo } from "./check.ts";

/** Undoing a write of one's own. */
export const RESTORING_CHECKS = {
  "restoring puts back exactly what was there": at(async (place, signal) => {
    const content = await place.content();
    const former = await loadOf(place.store, signal);
    const written = await writeTo(place.store, named("rejected"), former, signal);
    assert.notEqual(await place.content(), content);
    assert.equal(await place.store.restore(former, written, signal), true);
    assert.equal(await place.content(), content);
    assertStored(await place.store.load(signal), FIRST, 4);
  }),
  "what was restored can be written over": at(async ({ store }, signal) => {
    const former = await loadOf(store, signal);
    const written = await writeTo(store, named("rejected"), former, signal);
    await store.restore(former, written, signal);
    await writeTo(store, named("accepted"), await loadOf(store, signal), signal);
    assertStored(await store.load(signal), named("accepted"), 5);
  }),
  "a write of one's own can be put back over a later one": at(async ({ store }, signal) => {
    const first = await writeTo(store, named("first"), await loadOf(store, signal), signal);
    const second = await writeTo(store, named("second"), first, signal);
    assert.equal(await store.restore(first, second, signal), true);
    assertStored(await store.load(signal), named("first"), 5);
  }),
  "nothing is restored over another hand's content": at(async (place, signal) => {
    const former = await loadOf(place.store, signal);
    const written = await writeTo(place.store, named("rejected"), former, signal);
    await place.replace(named("by hand"));
    const content = await place.content();
    assert.equal(await place.store.restore(former, written, signal), false);
    assert.equal(await place.content(), content);
  }),
  "nothing is restored over another store's write": at(async (place, signal) => {
    const former = await loadOf(place.store, signal);
    const written = await writeTo(place.store, named("rejected"), former, signal);
    await writeTo(await place.second(), named("theirs"), written, signal);
    assert.equal(await place.store.restore(former, written, signal), false);
    assertStored(await place.store.load(signal), named("theirs"), 6);
  }),
  "nothing is restored where the document is gone": at(async (place, signal) => {
    const former = await loadOf(place.store, signal);
    const written = await writeTo(place.store, named("rejected"), former, signal);
    await place.remove();
    assert.equal(await place.store.restore(former, written, signal), false);
    assert.equal(await place.content(), undefined);
  }),
} as const satisfies Record<string, ConfigStoreCheck>;
