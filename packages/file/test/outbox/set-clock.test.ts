import { SuiteClock } from "@bridge/conformance";
import type { OutboxStore } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { end, outboxRecord, ROUTE } from "./support/records.ts";
import { openScratchOutbox, survivorOf } from "./support/scratch-outbox.ts";

const { signal } = new AbortController();
const CLAIM = { ...ROUTE, limit: 10, loanMs: 60_000 };
const DELAY_MS = 5_000;
const HOUR_MS = 3_600_000;
const ONE_IN_MEMORY = { queueLength: 1, maxQueueLength: 1_000, chunk: 1, contentBytes: 10_000 };

/** An outbox with one record, which is to be tried again after {@link DELAY_MS}. */
async function retrying(clock: SuiteClock): Promise<OutboxStore> {
  const store = openScratchOutbox({ clock });
  await store.persist([outboxRecord("a")], signal);
  const [claim] = await store.claim(CLAIM, signal);
  await store.finish([end(claim!, { kind: "retry", delayMs: DELAY_MS, attempts: 1 })], signal);
  return store;
}

async function claimed(store: OutboxStore): Promise<number> {
  return (await store.claim(CLAIM, signal)).length;
}

describe.each([-HOUR_MS, HOUR_MS])("the clock is set by %i ms while a record waits for a retry", (jumpMs) => {
  test("it is due after its delay, no sooner and no later, and its list says so", async () => {
    const clock = new SuiteClock(1_767_225_600_000);
    await using store = await retrying(clock);
    clock.jump(jumpMs);
    const [head] = await store.list({}, { limit: 1, offset: 0 }, signal);
    expect(head?.dueAt).toBe(clock.now() + DELAY_MS);
    await clock.pass(DELAY_MS - 1);
    expect(await claimed(store)).toBe(0);
    await clock.pass(1);
    expect(await claimed(store)).toBe(1);
  });

  test.each([0, 1_000])("once it is due, %i ms ago, its list says when it was, or that it is", async (agoMs) => {
    const clock = new SuiteClock(1_767_225_600_000);
    await using store = await retrying(clock);
    const dueAt = clock.now() + DELAY_MS;
    await clock.pass(DELAY_MS + agoMs);
    clock.jump(jumpMs);
    const [head] = await store.list({}, { limit: 1, offset: 0 }, signal);
    expect(head?.dueAt).toBe(Math.min(dueAt, clock.now()));
  });

  test("so it is when the record is not in memory", async () => {
    const clock = new SuiteClock(1_767_225_600_000);
    await using store = openScratchOutbox({ clock, window: ONE_IN_MEMORY });
    for (const id of ["a", "b", "c"]) await store.persist([outboxRecord(id)], signal);
    const claim = await store.claimOne("c", 60_000, signal);
    await store.finish([end(claim!, { kind: "retry", delayMs: DELAY_MS, attempts: 1 })], signal);
    clock.jump(jumpMs);
    const [head] = await store.list({}, { limit: 1, offset: 2 }, signal);
    expect(head?.dueAt).toBe(clock.now() + DELAY_MS);
    await clock.pass(DELAY_MS - 1);
    expect(await claimed(store)).toBe(2);
    await clock.pass(1);
    expect(await claimed(store)).toBe(1);
  });
});

test("set back before a restart, it adds nothing to the time before the first claim", async () => {
  const clock = new SuiteClock(1_767_225_600_000);
  const before = await retrying(clock);
  clock.jump(-HOUR_MS);
  await using store = await survivorOf(before, { clock });
  await clock.pass(DELAY_MS);
  expect(await claimed(store)).toBe(1);
});

test("set back before a restart, it adds no more than the delay to the wait", async () => {
  const clock = new SuiteClock(1_767_225_600_000);
  const before = await retrying(clock);
  clock.jump(-HOUR_MS);
  await using store = await survivorOf(before, { clock });
  expect(await claimed(store)).toBe(0);
  await clock.pass(DELAY_MS);
  expect(await claimed(store)).toBe(1);
});

test("a restart takes nothing from the wait when nobody has set the clock", async () => {
  const clock = new SuiteClock(1_767_225_600_000);
  const before = await retrying(clock);
  await clock.pass(DELAY_MS - 1);
  await using store = await survivorOf(before, { clock });
  expect(await claimed(store)).toBe(0);
  await clock.pass(1);
  expect(await claimed(store)).toBe(1);
});

test("a record that was not tried yet is due from when it was made, whatever the clock says", async () => {
  const clock = new SuiteClock(1_767_225_600_000);
  await using store = openScratchOutbox({ clock });
  await store.persist([outboxRecord("a", { createdAt: clock.now() - 1 })], signal);
  const dueAt = clock.now() - 1;
  for (const jumpMs of [0, -HOUR_MS, 2 * HOUR_MS]) {
    clock.jump(jumpMs);
    expect(await store.list({}, { limit: 1, offset: 0 }, signal)).toMatchObject([{ dueAt }]);
  }
});
