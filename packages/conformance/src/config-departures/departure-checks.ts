import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import type { ConfigDepartures, ConfigStore, StoredConfig } from "@bridge/ports";
import { at, type ConfigStoreCheck, FIRST, loadOf, named, plain, writeTo } from "../config-store/check.ts";

const PLACES = { outbox: "0123456789abcdef", dlq: "fedcba9876543210" };

/** What is remembered of documents whose stores are being left. */
export const DEPARTURE_CHECKS = {
  "nothing is found where nothing was remembered, and nothing is forgotten": at(async ({ store }, signal) => {
    assert.equal(await onlyOf(store, signal), undefined);
    await departuresOf(store).forget(signal);
  }),
  "what is remembered is found by the next process as it was, with the places of its stores": at(
    async (place, signal) => {
      const former = await loadOf(place.store, signal);
      await departuresOf(place.store).remember(former, signal, PLACES);
      await writeTo(place.store, named("new"), former, signal);
      const found = await onlyOf(await place.second(), signal);
      assert.deepEqual([found?.version, found?.revision, found?.places], [former.version, former.revision, PLACES]);
      assert.deepEqual(plain(found?.document ?? {}), plain(FIRST));
    },
  ),
  "the same document takes its own place, with other places": at(async (place, signal) => {
    const former = await loadOf(place.store, signal);
    for (const places of [PLACES, PLACES, { outbox: PLACES.dlq }]) {
      await departuresOf(place.store).remember(former, signal, places);
      assert.deepEqual((await onlyOf(await place.second(), signal))?.places, places);
    }
  }),
  "what a process remembers takes the place of what it has remembered before": at(async (place, signal) => {
    const first = await loadOf(place.store, signal);
    await departuresOf(place.store).remember(first, signal, PLACES);
    const second = await writeTo(place.store, named("new"), first, signal);
    await departuresOf(place.store).remember(second, signal, {});
    assert.equal((await onlyOf(await place.second(), signal))?.revision, second.revision);
    await departuresOf(place.store).forget(signal);
    assert.equal(await onlyOf(await place.second(), signal), undefined);
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
    const found = await onlyOf(next, signal);
    assert.deepEqual([found?.revision, found?.places], [former.revision, PLACES]);
  }),
  "what processes with stores of their own remember stands side by side, and each forgets its own": at(
    async (place, signal) => {
      const next = await place.second();
      const [here, there] = [PLACES, { outbox: "aaaaaaaaaaaaaaaa", dlq: "bbbbbbbbbbbbbbbb" }];
      const former = await loadOf(place.store, signal);
      await departuresOf(place.store).remember(former, signal, here);
      await departuresOf(next).remember(await loadOf(next, signal), signal, there);
      const places = async () => (await allOf(await place.second(), signal)).map((each) => each.places);
      const both = await places();
      assert.equal(both.length, 2);
      for (const each of [here, there]) assert.ok(both.some((one) => isDeepStrictEqual({ ...one }, each)));
      const second = await writeTo(place.store, named("new"), former, signal);
      await departuresOf(place.store).remember(second, signal, here);
      await departuresOf(next).forget(signal);
      assert.deepEqual(await places(), [here]);
      assert.equal((await onlyOf(await place.second(), signal))?.revision, second.revision);
      await departuresOf(place.store).forget(signal);
      assert.deepEqual(await places(), []);
    },
  ),
  "of what is found, what is forgotten is that of its places": at(async (place, signal) => {
    const next = await place.second();
    const [here, there] = [PLACES, { outbox: PLACES.outbox, dlq: "bbbbbbbbbbbbbbbb" }];
    await departuresOf(place.store).remember(await loadOf(place.store, signal), signal, here);
    await departuresOf(next).remember(await loadOf(next, signal), signal, there);
    const third = await place.second();
    const isHere = ({ places }: StoredConfig): boolean => places?.dlq === here.dlq;
    const found = (await allOf(third, signal)).find(isHere);
    await departuresOf(third).forget(signal, found);
    assert.deepEqual((await onlyOf(third, signal))?.places, there);
  }),
  "what is found can be forgotten by whoever has found it, also twice, and then something else be remembered": at(
    async (place, signal) => {
      const former = await loadOf(place.store, signal);
      await departuresOf(place.store).remember(former, signal, PLACES);
      await writeTo(place.store, named("new"), former, signal);
      const next = await place.second();
      const found = await onlyOf(next, signal);
      for (let n = 0; n < 2; n++) await departuresOf(next).forget(signal, found);
      assert.equal(await onlyOf(next, signal), undefined);
      const stored = await loadOf(next, signal);
      await departuresOf(next).remember(stored, signal, {});
      assert.equal((await onlyOf(await place.second(), signal))?.revision, stored.revision);
    },
  ),
  "a document that two processes remember is forgotten by either": at(async (place, signal) => {
    const next = await place.second();
    for (const store of [place.store, next])
      await departuresOf(store).remember(await loadOf(store, signal), signal, PLACES);
    await departuresOf(next).forget(signal);
    assert.equal(await onlyOf(place.store, signal), undefined);
  }),
  "what a process has forgotten is another's alone when that remembers it": at(async (place, signal) => {
    const former = await loadOf(place.store, signal);
    const next = await place.second();
    await departuresOf(place.store).remember(former, signal, PLACES);
    await departuresOf(place.store).forget(signal);
    await departuresOf(next).remember(await loadOf(next, signal), signal, PLACES);
    await departuresOf(place.store).forget(signal);
    assert.equal((await onlyOf(next, signal))?.revision, former.revision);
  }),
  "nothing is stored by it, and it goes on while nothing is stored": at(async (place, signal) => {
    const content = await place.content();
    const former = await loadOf(place.store, signal);
    await departuresOf(place.store).remember(former, signal, PLACES);
    assert.equal(await place.content(), content);
    await place.remove();
    assert.equal((await onlyOf(await place.second(), signal))?.revision, former.revision);
    await departuresOf(place.store).remember(former, signal, {});
    await departuresOf(place.store).forget(signal);
    assert.equal(await onlyOf(await place.second(), signal), undefined);
    assert.equal(await place.content(), undefined);
  }),
} as const satisfies Record<string, ConfigStoreCheck>;

/** All that is remembered. */
async function allOf(store: ConfigStore, signal: AbortSignal): Promise<readonly StoredConfig[]> {
  const all: StoredConfig[] = [];
  for await (const each of departuresOf(store).find(signal)) all.push(each);
  return all;
}

/** The only thing that is remembered, if there is one. */
export async function onlyOf(store: ConfigStore, signal: AbortSignal): Promise<StoredConfig | undefined> {
  const [first, ...others] = await allOf(store, signal);
  assert.deepEqual(others, []);
  return first;
}

export function departuresOf(store: ConfigStore): ConfigDepartures {
  assert.ok(store.departures !== undefined, "the store remembers no departures");
  return store.departures;
}
