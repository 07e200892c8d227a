import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { ConfigChange } from "@bridge/ports";
import { within } from "../harness/within.ts";
import { beginWatch, LOOK_MS, type Watching } from "./begin-watch.ts";
import { assertStored, at, type ConfigStoreCheck, FIRST, loadOf, named, writeTo } from "./check.ts";
import type { ConfigDocument, ConfigPlace } from "./config-store-subject.ts";

/** Changes by other hands. */
export const WATCHING_CHECKS = {
  "tells what another hand wrote": watching(async ({ place, next }) => {
    await place.replace(named("by hand", { ...FIRST, config_version: 9 }));
    assertTold(await next(), named("by hand"), 9);
    await place.replace(named("once more"));
    assertTold(await next(), named("once more"), 4);
  }),
  "tells what another store wrote": watching(async ({ place, next, signal }) => {
    const other = await place.second();
    await writeTo(other, named("theirs"), await loadOf(other, signal), signal);
    assertTold(await next(), named("theirs"), 5);
  }),
  "tells what changed between the load and the watch": at(async (place, signal) => {
    await place.store.load(signal);
    await place.replace(named("meanwhile"));
    await using watch = beginWatch(place.store, signal);
    assertTold(await watch.next(), named("meanwhile"), 4);
  }),
  "does not tell what the store itself wrote or restored": watching(async ({ place, next, signal }) => {
    const told = next();
    const former = await loadOf(place.store, signal);
    const rejected = await writeTo(place.store, named("rejected"), former, signal);
    await delay(LOOK_MS);
    await place.store.restore(former, rejected, signal);
    await delay(LOOK_MS);
    await writeTo(place.store, named("mine"), await loadOf(place.store, signal), signal);
    await delay(LOOK_MS);
    await place.replace(named("by hand"));
    assertTold(await told, named("by hand"), 4);
  }),
  "tells when another hand puts back what was there before a write of one's own": watching(
    async ({ place, next, signal }) => {
      await writeTo(place.store, named("mine"), await loadOf(place.store, signal), signal);
      await place.replace(FIRST);
      assertTold(await next(), FIRST, 4);
    },
  ),
  "loading does not hide a change from the watch": watching(async ({ place, next, signal }) => {
    await place.replace(named("by hand"));
    await place.store.load(signal);
    assertTold(await next(), named("by hand"), 4);
  }),
  "tells the newest only, to a reader who is slow": watching(async ({ place, next }) => {
    await place.replace(named("first"));
    assertTold(await next(), named("first"), 4);
    for (const id of ["second", "third", "newest"]) await place.replace(named(id));
    assertTold(await next(), named("newest"), 4);
    await place.replace(named("last"));
    assertTold(await next(), named("last"), 4);
  }),
  "tells once that the document is missing, and when it comes back": watching(async ({ place, next }) => {
    await place.remove();
    assert.deepEqual(await next(), { kind: "missing" });
    await place.replace(FIRST);
    assertTold(await next(), FIRST, 4);
  }),
  "tells a document that appears": async (subject, signal) => {
    await using place = await subject.open(undefined);
    await place.store.load(signal);
    await using watch = beginWatch(place.store, signal);
    await place.replace(FIRST);
    assertTold(await watch.next(), FIRST, 4);
  },
  "tells what is no document, without quoting it, and its repair": watching(async ({ place, next }) => {
    await place.damage("canary-in-the-damage");
    const told = await next();
    assert.equal(told.kind, "unreadable");
    assert.ok(told.error.message !== "" && !told.error.message.includes("canary-in-the-damage"));
    await place.replace(named("repaired"));
    assertTold(await next(), named("repaired"), 4);
  }),
  "what is told can be written over": watching(async ({ place, next, signal }) => {
    await place.replace(named("by hand"));
    const told = await next();
    assert.equal(told.kind, "changed");
    await writeTo(place.store, named("mine"), told.stored, signal);
  }),
  "has seen what it has written, restored or told": at(async (place, signal) => {
    const { store } = place;
    const seenBySecond = async (): Promise<string | undefined> => {
      const second = await place.second();
      await second.load(signal);
      return second.seen;
    };
    const former = await loadOf(store, signal);
    const first = store.seen;
    const written = await writeTo(store, named("mine"), former, signal);
    assert.notEqual(store.seen, first);
    assert.equal(store.seen, await seenBySecond());
    await store.restore(former, written, signal);
    assert.equal(store.seen, first);
    await using watch = beginWatch(place.store, signal);
    await place.replace(named("by hand"));
    await watch.next();
    assert.equal(store.seen, await seenBySecond());
  }),
  "ends when its signal aborts, and leaves no listener": at(async ({ store }, signal) => {
    await store.load(signal);
    const controller = new AbortController();
    const ended = (async () => {
      for await (const change of store.watch(controller.signal))
        assert.fail(`nothing changed, yet ${change.kind} is told`);
    })();
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort(new Error("seen enough"));
    await within(ended, signal, "the watch to end");
    assert.equal(getEventListeners(controller.signal, "abort").length, 0);
    for await (const change of store.watch(controller.signal)) assert.fail(`${change.kind} is told after the end`);
  }),
} as const satisfies Record<string, ConfigStoreCheck>;

/** A check at a place whose document was loaded and is watched. */
function watching(
  check: (
    stage: Pick<Watching, "next"> & { readonly place: ConfigPlace; readonly signal: AbortSignal },
  ) => Promise<void>,
): ConfigStoreCheck {
  return at(async (place, signal) => {
    await place.store.load(signal);
    await using watch = beginWatch(place.store, signal);
    await check({ place, next: () => watch.next(), signal });
  });
}

function assertTold(change: ConfigChange, document: ConfigDocument, version: number): void {
  assert.equal(change.kind, "changed");
  assertStored(change.stored, document, version);
}
