import fc from "fast-check";
import { expect, test } from "vitest";
import { BinaryHeap } from "../../src/outbox/binary-heap.ts";

test("gives what was pushed, the smallest first, whenever it is asked", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer({ min: -20, max: 20 }))), (steps) => {
      const heap = new BinaryHeap((item: number) => item);
      const model: number[] = [];
      for (const step of steps) {
        model.sort((a, b) => a - b);
        if (step === null) {
          expect(heap.peek()).toBe(model[0]);
          expect(heap.pop()).toBe(model.shift());
        } else {
          heap.push(step);
          model.push(step);
        }
      }
      expect(model.map(() => heap.pop())).toEqual(model.toSorted((a, b) => a - b));
      expect(heap.pop()).toBeUndefined();
    }),
  );
});
