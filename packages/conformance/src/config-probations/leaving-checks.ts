import assert from "node:assert/strict";
import { assertStored, at, type ConfigStoreCheck, FIRST, loadOf, named, writeTo } from "../config-store/check.ts";
import { begin, endsReplaced, leftAt, nextProcess, PROBATION, probationsOf } from "./check.ts";

const REVERSAL = { why: "failure_ratio", detail: "12 of 96 sends failed" };

/** What the next process finds. */
export const LEAVING_CHECKS = {
  "a process that dies leaves what was on probation, and what comes back": at(async (place, signal) => {
    await begin(place.store, signal);
    const left = await leftAt(await nextProcess(place), signal);
    assert.deepEqual(left.probation, PROBATION);
    assertStored(left.former, FIRST, 4);
    assertStored(left.current, named("rejected"), 5);
    assert.deepEqual([left.orderly, left.reversal], [false, undefined]);
  }),
  "what comes back is stored again exactly as it was": at(async (place, signal) => {
    const content = await place.content();
    await begin(place.store, signal);
    const next = await nextProcess(place);
    const { former, current } = await leftAt(next, signal);
    assert.ok(current !== undefined, "what is on probation is not stored");
    assert.equal(await next.restore(former, current, signal), true);
    await probationsOf(next).end(signal);
    assert.equal(await place.content(), content);
    assertStored(await next.load(signal), FIRST, 4);
  }),
  "what is noted last is what is found": at(async (place, signal) => {
    await begin(place.store, signal);
    const later = { ...PROBATION, confirmBy: PROBATION.confirmBy + 60_000 };
    await probationsOf(place.store).note({ probation: PROBATION, orderly: false }, signal);
    await probationsOf(place.store).note({ probation: later, orderly: true }, signal);
    const { probation, orderly } = await leftAt(await nextProcess(place), signal);
    assert.deepEqual([probation, orderly], [later, true]);
  }),
  "what was found can be noted again, and comes back all the same": at(async (place, signal) => {
    const content = await place.content();
    await begin(place.store, signal);
    await probationsOf(place.store).note({ probation: PROBATION, orderly: true }, signal);
    const second = await nextProcess(place);
    await leftAt(second, signal);
    await probationsOf(second).note({ probation: PROBATION, orderly: false }, signal);
    const third = await nextProcess(place);
    const { former, current, orderly } = await leftAt(third, signal);
    assert.equal(orderly, false);
    assert.ok(current !== undefined, "what is on probation is not stored");
    assert.equal(await third.restore(former, current, signal), true);
    assert.equal(await place.content(), content);
  }),
  "that it was about to be taken back is found, before it was and after": at(async (place, signal) => {
    const { former, current } = await begin(place.store, signal);
    await probationsOf(place.store).note({ probation: PROBATION, orderly: false, reversal: REVERSAL }, signal);
    const before = await leftAt(await nextProcess(place), signal);
    assert.deepEqual(before.reversal, REVERSAL);
    assertStored(before.current, named("rejected"), 5);
    assert.equal(await place.store.restore(former, current, signal), true);
    const after = await leftAt(await nextProcess(place), signal);
    assert.deepEqual([after.reversal, after.current], [REVERSAL, undefined]);
    assertStored(after.former, FIRST, 4);
    assertStored(after.tried, named("rejected"), 5);
  }),
  "where nothing is stored any more, what comes back is stored again, and what was tried out is told": at(
    async (place, signal) => {
      await begin(place.store, signal);
      await place.remove();
      const next = await nextProcess(place);
      const left = await leftAt(next, signal);
      assert.deepEqual([left.current, left.orderly, left.reversal], [undefined, false, { why: "process_ended" }]);
      assertStored(left.tried, named("rejected"), 5);
      assertStored(await next.load(signal), FIRST, 4);
    },
  ),
  "of a document that is not stored nothing is taken back, and it is told": at(async (place, signal) => {
    const { former, current } = await begin(place.store, signal);
    await place.store.restore(former, current, signal);
    const next = await nextProcess(place);
    await endsReplaced(next, signal);
    assertStored(await next.load(signal), FIRST, 4);
  }),
  "another hand's document counts, whatever its version, and the next start is told what that has replaced, once": at(
    async (place, signal) => {
      const { former, current } = await begin(place.store, signal);
      await place.replace({ ...named("by hand"), config_version: 5 });
      const next = await nextProcess(place);
      await endsReplaced(next, signal);
      assertStored(await next.load(signal), named("by hand"), 5);
      assert.equal(await place.store.restore(former, current, signal), false);
      await writeTo(next, current.document, await loadOf(next, signal), signal);
      assert.equal(await probationsOf(await nextProcess(place)).find(signal), undefined);
    },
  ),
} as const satisfies Record<string, ConfigStoreCheck>;
