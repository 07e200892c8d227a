import assert from "node:assert/strict";
import type { ConfigLeftVersions, ConfigStore, LeftVersion, StoredConfig } from "@bridge/ports";
import { assertStored, at, type ConfigStoreCheck, loadOf, named, writeTo } from "../config-store/check.ts";
import { nextProcess } from "./check.ts";

const KEPT = 20;

/** Former documents that have left something in their stores. */
export const LEFT_CHECKS = {
  "nothing is left where nothing was said to be": at(async ({ store }, signal) => {
    await writeTo(store, named("new"), await loadOf(store, signal), signal);
    assert.deepEqual(await leftOf(store).list(signal), []);
  }),
  "what has left something in its stores is known to the next process, and is found by its version": at(
    async (place, signal) => {
      const { former, left } = await leaving(place.store, signal);
      await leftOf(place.store).keep(left, ["outbox"], signal);
      assertStored(await place.store.load(signal), former.document, former.version);
      const next = await nextProcess(place);
      const [one, ...others] = await leftOf(next).list(signal);
      assert.deepEqual([one?.version, one?.stores, others], [5, ["outbox"], []]);
      assertStored(documentOf(one), named("left"), 5);
      assert.equal((await next.versions?.list(signal))?.[0], 5);
      assertStored(await next.versions?.load(5, signal), named("left"), 5);
    },
  ),
  "what is kept once more has left what it had left, and that": at(async ({ store }, signal) => {
    const { left } = await leaving(store, signal);
    for (const each of ["dlq", "outbox", "outbox"] as const) await leftOf(store).keep(left, [each], signal);
    const listed = await leftOf(store).list(signal);
    assert.deepEqual(
      listed.map(({ stores }) => stores.toSorted()),
      [["dlq", "outbox"]],
    );
  }),
  "what is left becomes less, and nothing: then it is kept as any other": at(async (place, signal) => {
    const { left } = await leaving(place.store, signal);
    await leftOf(place.store).keep(left, ["dlq", "outbox"], signal);
    for (const stores of [["dlq"], []] as const) {
      const next = await nextProcess(place);
      const [one] = await leftOf(next).list(signal);
      assert.ok(one !== undefined, "what was left is forgotten");
      await leftOf(next).narrow(one, stores, signal);
      await leftOf(next).narrow(one, stores, signal);
      assert.deepEqual(
        (await leftOf(await nextProcess(place)).list(signal)).map((each) => each.stores),
        stores.length === 0 ? [] : [stores],
      );
    }
    assertStored(await place.store.versions?.load(5, signal), named("left"), 5);
  }),
  "two documents of one version are both known": at(async (place, signal) => {
    for (const name of ["left", "also left"]) {
      const { left } = await leaving(place.store, signal, name);
      await leftOf(place.store).keep(left, ["dlq"], signal);
    }
    const listed = await leftOf(await nextProcess(place)).list(signal);
    assert.deepEqual(
      listed.map(({ version }) => version),
      [5, 5],
    );
    assert.notDeepEqual(documentOf(listed[0])?.document, documentOf(listed[1])?.document);
  }),
  "the newest 20 are known, whatever else is kept": at(async ({ store }, signal) => {
    let stored = await loadOf(store, signal);
    for (let i = 0; i < KEPT + 2; i++) {
      stored = await writeTo(store, named(`${i}`), stored, signal);
      await leftOf(store).keep(stored, ["dlq"], signal);
    }
    const newest = stored.version;
    for (let i = 0; i < KEPT + 2; i++) stored = await writeTo(store, named(`later ${i}`), stored, signal);
    const listed = await leftOf(store).list(signal);
    assert.deepEqual(
      listed.slice(0, KEPT).map(({ version }) => version),
      Array.from({ length: KEPT }, (_, i) => newest - i),
    );
  }),
} as const satisfies Record<string, ConfigStoreCheck>;

/** A document that was stored as version 5, and is no more. */
async function leaving(
  store: ConfigStore,
  signal: AbortSignal,
  name = "left",
): Promise<Record<"former" | "left", StoredConfig>> {
  const former = await loadOf(store, signal);
  const left = await writeTo(store, named(name), former, signal);
  assert.equal(await store.restore(former, left, signal), true);
  return { former, left };
}

function leftOf(store: ConfigStore): ConfigLeftVersions {
  assert.ok(store.versions?.left !== undefined, "the store does not say what former versions have left");
  return store.versions.left;
}

function documentOf(left: LeftVersion | undefined): StoredConfig | undefined {
  return left !== undefined && "stored" in left.kept ? left.kept.stored : undefined;
}
