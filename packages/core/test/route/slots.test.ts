import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Slots } from "../../src/route/slots.ts";
import { turn } from "../support/fake-clock.ts";

const never = new AbortController().signal;

describe("max_in_flight: the slots of a route", () => {
  test("are never taken more often than there are, and are handed on in the order of the waiters", async () => {
    const steps = fc.array(fc.constantFrom("take", "release", "giveUp"), { maxLength: 100 });
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 4 }), async (given, capacity) => {
        const slots = new Slots(capacity);
        let held = 0;
        let served = 0;
        const waiting: { order: number; stop: AbortController }[] = [];
        let orders = 0;
        for (const step of given) {
          if (step === "take") {
            const stop = new AbortController();
            const order = orders++;
            waiting.push({ order, stop });
            slots.take(stop.signal).then(
              () => {
                held++;
                expect(waiting.shift()?.order).toBe(order);
                served++;
              },
              () => {},
            );
          } else if (step === "release" && held > 0) {
            held--;
            slots.release();
          } else if (step === "giveUp") {
            waiting.pop()?.stop.abort(new Error("gave up"));
          }
          await turn();
          expect(slots.taken).toBe(held);
          expect(held).toBeLessThanOrEqual(capacity);
          expect(waiting.length > 0 ? held : capacity).toBe(capacity);
        }
        expect(served).toBeLessThanOrEqual(orders);
      }),
      { numRuns: 50 },
    );
  });

  test("whoever takes a slot at once does not overtake somebody who waits", async () => {
    const slots = new Slots(1);
    expect(slots.tryTake()).toBe(true);
    const waiter = slots.take(never);
    expect(slots.tryTake()).toBe(false);
    slots.release();
    await waiter;
    expect(slots.tryTake()).toBe(false);
  });

  test("waiting for room takes none of it", async () => {
    const slots = new Slots(1);
    slots.tryTake();
    const room = slots.room(never);
    slots.release();
    await room;
    expect(slots.taken).toBe(0);
  });

  test("a wait ends with the signal's reason", async () => {
    const slots = new Slots(1);
    slots.tryTake();
    const stop = new AbortController();
    const waiter = slots.take(stop.signal);
    stop.abort(new Error("enough"));
    await expect(waiter).rejects.toThrow("enough");
    await expect(slots.take(stop.signal)).rejects.toThrow("enough");
  });
});
