import type { Delivery } from "@bridge/ports";
import fc from "fast-check";
import { expect, test } from "vitest";
import { turn } from "../support/fake-clock.ts";
import { deliveryOf, heldIntake } from "../support/held-intake.ts";

test("the window of a source is that of its first reader to be, and then of the last that read it", () => {
  const { intake, readerOf } = heldIntake(7);
  expect(intake.maxInFlight).toBe(7);
  const { reader } = readerOf({ maxInFlight: 3 });
  intake.attach(reader);
  expect(intake.maxInFlight).toBe(3);
  intake.detach(reader);
  expect(intake.maxInFlight).toBe(3);
});

test("a source that is lost before anybody reads it is left alone for as long as any other", async () => {
  const { clock, tap, intake, running, stop, told } = heldIntake();
  Object.assign(tap.receiver, {
    receive() {
      throw new Error("no such queue");
    },
  });
  const run = running();
  await clock.advance(999);
  expect([intake.lost, told.length]).toEqual([true, 1]);
  await clock.advance(2_001);
  expect(told).toHaveLength(3);
  stop.abort();
  await run;
});

test("a source is not asked for a reader that has left while it had no room, and not lost by that", async () => {
  const { tap, intake, readerOf, running, stop, told } = heldIntake(1);
  const [first, second] = [readerOf(), readerOf()];
  expect(first.admission.admit(stop.signal)).toBe(true);
  intake.attach(first.reader);
  const run = running();
  await turn();
  intake.detach(first.reader);
  first.admission.release();
  await turn();
  expect(tap.last.asked).toBe(0);
  intake.attach(second.reader);
  await turn();
  tap.last.give(deliveryOf("a"));
  await turn();
  expect([second.received, told, tap.openings.length]).toEqual([["a"], [], 1]);
  stop.abort();
  await run;
});

/** What happens to the reader of a delivery, so many turns of the microtask queue after there is room for it. */
const cases = fc.record({
  after: fc.nat({ max: 12 }),
  what: fc.constantFrom("detach", "replace", "restart"),
});

test("a delivery that waits for room is handed to who reads then, once and under one slot; not when its source begins anew", async () => {
  await fc.assert(
    fc.asyncProperty(cases, async ({ after, what }) => {
      const { tap, intake, readerOf, running, stop } = heldIntake(1);
      const [first, second] = [readerOf(), readerOf()];
      intake.attach(first.reader);
      const run = running();
      await turn();
      // Somebody takes the room while the source is being asked.
      expect(first.admission.admit(stop.signal)).toBe(true);
      tap.last.give(deliveryOf("a"));
      await turn();
      first.admission.release();
      for (let passed = 0; passed < after; passed++) await Promise.resolve();
      const before = [...first.received];
      if (what === "restart") intake.restart();
      else intake.detach(first.reader);
      if (what === "replace") intake.attach(second.reader);
      await turn();
      expect([first.received, first.admission.hasRoom]).toEqual([before, before.length === 0]);
      if (what === "detach") intake.attach(second.reader);
      await turn();
      const others = what === "restart" || before.length > 0 ? [] : ["a"];
      expect([second.received, second.admission.hasRoom]).toEqual([others, others.length === 0]);
      stop.abort();
      await run;
    }),
    { numRuns: 100 },
  );
});

test("a delivery that its source has taken back before anybody saw it is handed to nobody, and takes no room", async () => {
  const { tap, intake, readerOf, running, stop } = heldIntake(1);
  const { reader, received, admission } = readerOf();
  intake.attach(reader);
  const run = running();
  await turn();
  tap.last.give({ ...deliveryOf("gone"), signal: AbortSignal.abort() });
  await turn();
  expect([received, admission.hasRoom, tap.last.asked]).toEqual([[], true, 2]);
  stop.abort();
  await run;
});

test("a delivery with a signal that is none waits for room like any other: its route judges it", async () => {
  const { tap, intake, readerOf, running, stop } = heldIntake(1);
  const { reader, received, admission } = readerOf();
  intake.attach(reader);
  const run = running();
  await turn();
  expect(admission.admit(stop.signal)).toBe(true);
  tap.last.give(Object.assign(deliveryOf("a"), { signal: { aborted: false } as never }));
  await turn();
  admission.release();
  await turn();
  expect([received, tap.openings.length, intake.lost]).toEqual([["a"], 1, false]);
  stop.abort();
  await run;
});

test("a delivery whose caller has left by the time its turn comes leaves that turn to the next one, and takes no slot", async () => {
  const { clock, tap, intake, readerOf, running, stop } = heldIntake(1);
  const { reader, received, admission, control } = readerOf();
  const asked: string[] = [];
  const whoIs = (id: string, isThere: boolean): Delivery => ({
    ...deliveryOf(id),
    begin: () => {
      asked.push(id);
      return isThere;
    },
  });
  control.rate.limit = { messagesPerSecond: 1, burst: 1 };
  intake.attach(reader);
  const run = running();
  await turn();
  tap.last.give(whoIs("first", true));
  await turn();
  for (const each of [whoIs("second", false), whoIs("third", false), whoIs("fourth", true)]) {
    admission.release();
    await turn();
    tap.last.give(each);
    await turn();
    // The first of those that wait does so for its turn, and the others have it with that one's.
    if (each.message.id === "second") await clock.advance(1_000);
    await turn();
  }
  expect([received, asked]).toEqual([
    ["first", "fourth"],
    ["first", "second", "third", "fourth"],
  ]);
  stop.abort();
  await run;
});

test("a source that fails when it is asked whether a delivery is wanted is told of in the log, and the delivery is carried", async () => {
  const { tap, intake, readerOf, running, stop, unexpected } = heldIntake();
  const { reader, received } = readerOf();
  intake.attach(reader);
  const run = running();
  await turn();
  tap.last.give({
    ...deliveryOf("a"),
    begin: () => {
      throw new TypeError("no");
    },
  });
  await turn();
  expect([received, unexpected]).toEqual([["a"], [["receiver in", "no"]]]);
  stop.abort();
  await run;
});
