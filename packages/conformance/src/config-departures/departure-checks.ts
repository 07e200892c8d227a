import assert from "node:assert/strict";
import type { ConfigDepartures, ConfigStore } from "@bridge/ports";
import { at, type ConfigStoreCheck, FIRST, loadOf, named, plain, writeTo } from "../config-store/check.ts";

const PLACES = { outbox: "0123456789abcdef", dlq: "fedcba9876543210" };

/** What is remembered of documents whose stores are being left. */
export const DEPARTURE_CHECKS = {
  "nothing is found where nothing was remembered, and nothing is forgotten": at(async ({ store }, signal) => {
    assert.equal(await departuresOf(store).find(signal), undefined);
    await departuresOf(store).forget(signal);
  }),
  "what is remembered is found by the next process as it was, with the places of its stores": at(
    async (place, signal) => {
      const former = await loadOf(place.store, signal);
      await departuresOf(place.store).remember(former, signal, PLACES);
      await writeTo(place.store, named("new"), former, signal);
      const found = await departuresOf(await place.second()).find(signal);
      assert.deepEqual([found?.version, found?.revision, found?.places], [former.version, former.revision, PLACES]);
      assert.deepEqual(plain(found?.document ?? {}), plain(FIRST));
    },
  ),
  "the same document takes its own place, with other places": at(async (place, signal) => {
    const former = await loadOf(place.store, signal);
    for (const places of [PLACES, PLACES, { outbox: PLACES.dlq }]) {
      await departuresOf(place.store).remember(former, signal, places);
      assert.deepEqual((await departuresOf(await place.second()).find(signal))?.places, places);
    }
  }),
  "what a process remembers takes the place of what it has remembered before": at(async (place, signal) => {
    const first = await loadOf(place.store, signal);
    await departuresOf(place.store).remember(first, signal, PLACES);
    const second = await writeTo(place.store, named("new"), first, signal);
    await departuresOf(place.store).remember(second, signal, {});
    assert.equal((await departuresOf(await place.second()).find(signal))?.revision, second.revision);
    await departuresOf(place.store).forget(signal);
    assert.equal(await departuresOf(await place.second()).find(signal), undefined);
  }),
  "what another process has remembered is neither replaced nor forgotten unasked": at(async (place, signal) => {
    const former = await loadOf(place.store, signal);
    await departuresOf(place.store).remember(former, signal, PLACES);
    await writeTo(place.store, named("new"), former, signal);
    const next = await place.second();
    const stored = await loadOf(next, signal);
    await assert.rejects(departuresOf(next).remember(stored, signal, {}), Error);
    await departuresOf(next).forget(signal);
    await departuresOf(next).forget(signal, stored);
    const found = await departuresOf(next).find(signal);
    assert.deepEqual([found?.revision, found?.places], [former.revision, PLACES]);
  }),
  "what is found can be forgotten by whoever has found it, also twice, and then something else be remembered": at(
    async (place, signal) => {
      const former = await loadOf(place.store, signal);
      await departuresOf(place.store).remember(former, signal, PLACES);
      await writeTo(place.store, named("new"), former, signal);
      const next = await place.second();
      const found = await departuresOf(next).find(signal);
      for (let n = 0; n < 2; n++) await departuresOf(next).forget(signal, found);
      assert.equal(await departuresOf(next).find(signal), undefined);
      const stored = await loadOf(next, signal);
      await departuresOf(next).remember(stored, signal, {});
      assert.equal((await departuresOf(await place.second()).find(signal))?.revision, stored.revision);
    },
  ),
  "a document that two processes remember is forgotten by either": at(async (place, signal) => {
    const next = await place.second();
    for (const store of [place.store, next])
      await departuresOf(store).remember(await loadOf(store, signal), signal, PLACES);
    await departuresOf(next).forget(signal);
    assert.equal(await departuresOf(place.store).find(signal), undefined);
  }),
  "what a process has forgotten is another's alone when that remembers it": at(async (place, signal) => {
    const former = await loadOf(place.store, signal);
    const next = await place.second();
    await departuresOf(place.store).remember(former, signal, PLACES);
    await departuresOf(place.store).forget(signal);
    await departuresOf(next).remember(await loadOf(next, signal), signal, PLACES);
    await departuresOf(place.store).forget(signal);
    assert.equal((await departuresOf(next).find(signal))?.revision, former.revision);
  }),
  "nothing is stored by it, and it goes on while nothing is stored": at(async (place, signal) => {
    const content = await place.content();
    const former = await loadOf(place.store, signal);
    await departuresOf(place.store).remember(former, signal, PLACES);
    assert.equal(await place.content(), content);
    await place.remove();
    assert.equal((await departuresOf(await place.second()).find(signal))?.revision, former.revision);
    await departuresOf(place.store).remember(former, signal, {});
    await departuresOf(place.store).forget(signal);
    assert.equal(await departuresOf(await place.second()).find(signal), undefined);
    assert.equal(await place.content(), undefined);
  }),
} as const satisfies Record<string, ConfigStoreCheck>;

export function departuresOf(store: ConfigStore): ConfigDepartures {
  assert.ok(store.departures !== undefined, "the store remembers no departures");
  return store.departures;
}
