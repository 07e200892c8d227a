import assert from "node:assert/strict";
import { at, type ConfigStoreCheck, loadOf } from "../config-store/check.ts";
import type { ConfigLeaver, ConfigPlace } from "../config-store/config-store-subject.ts";
import { departuresOf, onlyOf } from "./departure-checks.ts";

/** A case that needs a process beside that of the place, which leaves what is stored. */
function beside(
  check: (place: ConfigPlace, leaver: ConfigLeaver, signal: AbortSignal) => Promise<void>,
): ConfigStoreCheck {
  return at(async (place, signal) => {
    // Where it can never be known there is nothing to be told.
    if (departuresOf(place.store).elsewhere === undefined) return;
    assert.ok(place.leaver !== undefined, "the place has no leaver: what another process does cannot be seen");
    const leaver = await place.leaver();
    try {
      await check(place, leaver, signal);
    } finally {
      await leaver.kill();
    }
  });
}

async function assertElsewhere(place: ConfigPlace, is: boolean, signal: AbortSignal): Promise<void> {
  const found = await onlyOf(place.store, signal);
  const isLeft = found !== undefined && (await departuresOf(place.store).elsewhere?.(found, signal));
  assert.equal(isLeft, is);
}

/** Who else is leaving stores. */
export const ELSEWHERE_CHECKS = {
  "nobody else leaves anything where nothing was remembered, or by this process": at(async (place, signal) => {
    const departures = departuresOf(place.store);
    if (departures.elsewhere === undefined) return;
    await assertElsewhere(place, false, signal);
    await departures.remember(await loadOf(place.store, signal), signal, {});
    await assertElsewhere(place, false, signal);
    await departures.forget(signal);
    await assertElsewhere(place, false, signal);
  }),
  "another process leaves what it has remembered for as long as it lives, and that stays": beside(
    async (place, leaver, signal) => {
      await assertElsewhere(place, true, signal);
      await leaver.kill();
      await assertElsewhere(place, false, signal);
      const found = await onlyOf(place.store, signal);
      assert.equal(found?.revision, (await loadOf(place.store, signal)).revision);
    },
  ),
  "another process that has forgotten what it had remembered leaves nothing": beside(async (place, leaver, signal) => {
    await leaver.forget();
    await assertElsewhere(place, false, signal);
    assert.equal(await onlyOf(place.store, signal), undefined);
  }),
  "whoever forgets what it has remembered itself, or remembers what another process leaves as well, does not end that":
    beside(async (place, leaver, signal) => {
      const departures = departuresOf(place.store);
      await departures.forget(signal);
      await assertElsewhere(place, true, signal);
      await departures.remember(await loadOf(place.store, signal), signal, {});
      await assertElsewhere(place, true, signal);
      await leaver.kill();
      await assertElsewhere(place, false, signal);
    }),
  "what is remembered again after the other process has died is this one's own": beside(
    async (place, leaver, signal) => {
      await leaver.kill();
      await departuresOf(place.store).remember(await loadOf(place.store, signal), signal, {});
      await assertElsewhere(place, false, signal);
    },
  ),
  "asking for it is broken off with the signal's reason": at(async ({ store }, signal) => {
    const departures = departuresOf(store);
    if (departures.elsewhere === undefined) return;
    const former = await loadOf(store, signal);
    const reason = new Error("enough");
    await assert.rejects(async () => departures.elsewhere?.(former, AbortSignal.abort(reason)), reason);
  }),
} as const satisfies Record<string, ConfigStoreCheck>;
