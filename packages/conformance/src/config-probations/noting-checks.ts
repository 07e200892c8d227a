import assert from "node:assert/strict";
import { assertStored, at, type ConfigStoreCheck, loadOf, named, writeTo } from "../config-store/check.ts";
import { begin, leftAt, nextProcess, PROBATION, probationsOf } from "./check.ts";

/** The process in which a document is on probation. */
export const NOTING_CHECKS = {
  "nothing is found where nothing was begun": at(async (place, signal) => {
    assert.equal(await probationsOf(place.store).find(signal), undefined);
    await writeTo(place.store, named("new"), await loadOf(place.store, signal), signal);
    assert.equal(await probationsOf(await nextProcess(place)).find(signal), undefined);
  }),
  "what is on probation is stored, and is what everybody loads": at(async (place, signal) => {
    const { current } = await begin(place.store, signal);
    assertStored(current, named("rejected"), 5);
    for (const store of [place.store, await place.second()])
      assertStored(await store.load(signal), named("rejected"), 5);
  }),
  "what comes back is kept as any other former version": at(async ({ store }, signal) => {
    await begin(store, signal);
    assert.deepEqual(await store.versions?.list(signal), store.versions && [4]);
  }),
  "nothing is begun over a version that moved, and nothing is left of it": at(async (place, signal) => {
    const seen = await loadOf(place.store, signal);
    await writeTo(await place.second(), named("theirs"), seen, signal);
    const content = await place.content();
    assert.equal(await probationsOf(place.store).begin(named("rejected"), seen, PROBATION, signal), undefined);
    assert.equal(await place.content(), content);
    assert.equal(await probationsOf(await nextProcess(place)).find(signal), undefined);
  }),
  "an aborted begin rejects with the signal's reason, and leaves nothing": at(async (place, signal) => {
    const seen = await loadOf(place.store, signal);
    const content = await place.content();
    const reason = new Error("enough");
    const begun = probationsOf(place.store).begin(named("rejected"), seen, PROBATION, AbortSignal.abort(reason));
    await assert.rejects(begun, reason);
    assert.equal(await place.content(), content);
    assert.equal(await probationsOf(await nextProcess(place)).find(signal), undefined);
  }),
  "what was ended is found no more": at(async (place, signal) => {
    await begin(place.store, signal);
    await probationsOf(place.store).end(signal);
    assert.equal(await probationsOf(place.store).find(signal), undefined);
    const next = await nextProcess(place);
    assert.equal(await probationsOf(next).find(signal), undefined);
    assertStored(await next.load(signal), named("rejected"), 5);
  }),
  "ending what was not begun, or twice, is nothing": at(async ({ store }, signal) => {
    await probationsOf(store).end(signal);
    await begin(store, signal);
    await probationsOf(store).end(signal);
    await probationsOf(store).end(signal);
    assertStored(await store.load(signal), named("rejected"), 5);
  }),
  "what another has begun is told, and is not its own to end": at(async (place, signal) => {
    const second = await place.second();
    assert.equal(await probationsOf(second).elsewhere?.(signal), undefined);
    await begin(place.store, signal);
    if (probationsOf(second).elsewhere !== undefined)
      assert.deepEqual((await probationsOf(second).elsewhere?.(signal))?.probation, PROBATION);
    assert.equal(await probationsOf(place.store).elsewhere?.(signal), undefined);
    await probationsOf(second).end(signal);
    assert.deepEqual((await leftAt(await nextProcess(place), signal)).probation, PROBATION);
  }),
} as const satisfies Record<string, ConfigStoreCheck>;
