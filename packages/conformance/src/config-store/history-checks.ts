import assert from "node:assert/strict";
import type { ConfigHistory, ConfigHistoryEntry, ConfigStore } from "@bridge/ports";
import { at, type ConfigStoreCheck } from "./check.ts";

const KEPT = 20;

/** Who committed what. */
export const HISTORY_CHECKS = {
  "a history begins empty": at(async ({ store }, signal) => {
    assert.deepEqual(await historyOf(store).list(signal), []);
  }),
  "lists what was committed as it was appended, the newest first": at(async (place, signal) => {
    const entries = [
      entry(1, { changes: [{ path: "bridge.log_level", before: "info", after: "debug" }] }),
      entry(2, {
        changes: [
          { path: "routes[a]", after: { id: "a", n: [1, null, "ü\n"] } },
          { path: "x", before: false },
        ],
      }),
      entry(3),
    ];
    for (const each of entries) await historyOf(place.store).append(each, signal);
    assert.deepEqual(await historyOf(place.store).list(signal), entries.toReversed());
    assert.deepEqual(await historyOf(await place.second()).list(signal), entries.toReversed());
  }),
  "keeps the newest 20": at(async ({ store }, signal) => {
    for (let i = 1; i <= KEPT + 2; i++) await historyOf(store).append(entry(i), signal);
    const versions = (await historyOf(store).list(signal)).map(({ version }) => version);
    assert.deepEqual(
      versions,
      Array.from({ length: KEPT }, (_, i) => KEPT + 2 - i),
    );
  }),
  "what follows a pending entry takes its place": at(async ({ store }, signal) => {
    const history = historyOf(store);
    await history.append(entry(1), signal);
    await history.append(entry(2, { pending: true }), signal);
    assert.deepEqual(await history.list(signal), [entry(2, { pending: true }), entry(1)]);
    await history.append(entry(2), signal);
    await history.append(entry(3, { pending: true }), signal);
    await history.append(entry(3, { pending: true, actor: "bob" }), signal);
    assert.deepEqual(await history.list(signal), [entry(3, { pending: true, actor: "bob" }), entry(2), entry(1)]);
    await history.append(entry(4), signal);
    assert.deepEqual(await history.list(signal), [entry(4), entry(2), entry(1)]);
  }),
  "what follows a pending entry of a higher version leaves it, and is older": at(async (place, signal) => {
    const history = historyOf(place.store);
    const other = historyOf(await place.second());
    await history.append(entry(4), signal);
    await other.append(entry(6, { pending: true }), signal);
    await history.append(entry(5), signal);
    assert.deepEqual(await other.list(signal), [entry(6, { pending: true }), entry(5), entry(4)]);
    await other.append(entry(6), signal);
    assert.deepEqual(await history.list(signal), [entry(6), entry(5), entry(4)]);
    await history.append(entry(7, { pending: true }), signal);
    assert.deepEqual(await other.list(signal), [entry(7, { pending: true }), entry(6), entry(5), entry(4)]);
  }),
  "an entry that is there already is told once": at(async ({ store }, signal) => {
    const history = historyOf(store);
    for (const each of [entry(5), entry(6), entry(5, { actor: "bob" })]) await history.append(each, signal);
    assert.deepEqual(await history.list(signal), [entry(6), entry(5, { actor: "bob" })]);
    const another = entry(5, { committedAt: 5 });
    await history.append(another, signal);
    assert.deepEqual(await history.list(signal), [entry(6), another, entry(5, { actor: "bob" })]);
  }),
  "of appends that race, none is lost": at(async (place, signal) => {
    const other = await place.second();
    const versions = Array.from({ length: KEPT }, (_, i) => i + 1);
    await Promise.all(versions.map((i) => historyOf(i % 2 === 0 ? place.store : other).append(entry(i), signal)));
    const kept = (await historyOf(other).list(signal)).map(({ version }) => version);
    assert.deepEqual(
      kept.toSorted((a, b) => a - b),
      versions,
    );
  }),
  "a history survives an abrupt end": at(async (place, signal) => {
    assert.ok(place.reopen !== undefined, "the place has no reopen: give one, or excuse the case");
    await historyOf(place.store).append(entry(1), signal);
    assert.deepEqual(await historyOf(await place.reopen()).list(signal), [entry(1)]);
  }),
  "a history is not part of the document": at(async (place, signal) => {
    const content = await place.content();
    await historyOf(place.store).append(entry(1), signal);
    assert.equal(await place.content(), content);
  }),
} as const satisfies Record<string, ConfigStoreCheck>;

function historyOf(store: ConfigStore): ConfigHistory {
  assert.ok(store.history !== undefined, "the store keeps no history");
  return store.history;
}

function entry(version: number, fields: Partial<ConfigHistoryEntry> = {}): ConfigHistoryEntry {
  return { version, committedAt: 1_700_000_000_000 + version, actor: "alice", changes: [], ...fields };
}
