import assert from "node:assert/strict";
import type { ConfigStore } from "@bridge/ports";
import { assertStored, at, type ConfigStoreCheck, loadOf, named, writeTo } from "./check.ts";
import type { ConfigPlace } from "./config-store-subject.ts";

const RACERS = 20;

/** What writers may do at once, over two stores. */
export const RACING_CHECKS = {
  "of writers that race, exactly one wins": at(async (place, signal) => {
    const seen = await loadOf(place.store, signal);
    const results = await race(place, (store, i) => store.write(named(`racer-${i}`), seen, signal));
    const winners = results.flatMap((result, i) => (result === undefined ? [] : [`racer-${i}`]));
    assert.equal(winners.length, 1, `${winners.length} writers were told that they won`);
    assertStored(await place.store.load(signal), named(winners[0] ?? ""), 5);
  }),
  "of writers that try until they win, each write counts": at(
    async (place, signal) => {
      await race(place, async (store, i) => {
        for (;;) {
          const seen = await loadOf(store, signal);
          const written = await store.write({ ...seen.document, [`racer-${i}`]: i }, seen, signal);
          if (written !== undefined) return;
        }
      });
      const document = Object.fromEntries(Array.from({ length: RACERS }, (_, i) => [`racer-${i}`, i]));
      assertStored(await place.store.load(signal), document, RACERS);
    },
    { config_version: 0 },
  ),
  "a write and an undoing that race: one of them is done": at(async (place, signal) => {
    const former = await loadOf(place.store, signal);
    const rejected = await writeTo(place.store, named("rejected"), former, signal);
    const other = await place.second();
    const [restored, written] = await Promise.all([
      place.store.restore(former, rejected, signal),
      other.write(named("theirs"), rejected, signal),
    ]);
    assert.notEqual(restored, written !== undefined, "both were told that they were done, or neither");
    const [document, version] = restored ? [former.document, 4] : [named("theirs"), 6];
    assertStored(await place.store.load(signal), document, version);
  }),
  "whoever loads while others write sees one document or the other": at(
    async (place, signal) => {
      const writer = { writes: true };
      const write = async (): Promise<void> => {
        let stored = await loadOf(place.store, signal);
        const long = "x".repeat(10_000);
        for (let i = 0; i < 10; i++) stored = await writeTo(place.store, { a: i, long, z: i }, stored, signal);
        writer.writes = false;
      };
      const read = async (store: ConfigStore): Promise<void> => {
        while (writer.writes) {
          signal.throwIfAborted();
          const { a, z } = (await loadOf(store, signal)).document;
          assert.equal(a, z);
          await new Promise((resolve) => setImmediate(resolve));
        }
      };
      await Promise.all([write(), read(place.store), read(await place.second())]);
    },
    { a: 0, z: 0 },
  ),
} as const satisfies Record<string, ConfigStoreCheck>;

async function race<T>(
  place: ConfigPlace,
  run: (store: ConfigStore, index: number) => Promise<T>,
): Promise<readonly T[]> {
  const other = await place.second();
  return Promise.all(Array.from({ length: RACERS }, (_, i) => run(i % 2 === 0 ? place.store : other, i)));
}
