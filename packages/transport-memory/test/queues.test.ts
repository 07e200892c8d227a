import fc from "fast-check";
import { expect, test } from "vitest";
import { DueQueue } from "../src/due-queue.ts";
import { RingQueue } from "../src/ring-queue.ts";

test("a ring does what an array does", () => {
  const step = fc.oneof(
    fc.record({ push: fc.integer() }),
    fc.record({ unshift: fc.integer() }),
    fc.record({ shift: fc.constant(true) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
      const ring = new RingQueue<number>();
      const model: number[] = [];
      for (const take of steps) {
        if ("push" in take) {
          ring.push(take.push);
          model.push(take.push);
        } else if ("unshift" in take) {
          ring.unshift(take.unshift);
          model.unshift(take.unshift);
        } else {
          expect(ring.shift()).toBe(model.shift());
        }
        expect(ring.size).toBe(model.length);
      }
      expect([...ring]).toEqual(model);
    }),
  );
});

test("a due queue hands out what is due, by time and then in the order it came", () => {
  const dues = fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 100, size: "max" });
  fc.assert(
    fc.property(dues, fc.integer({ min: 0, max: 9 }), (list, now) => {
      const queue = new DueQueue<number>();
      for (const [index, due] of list.entries()) queue.push(index, due);
      const expected = list
        .map((due, index) => ({ due, index }))
        .filter(({ due }) => due <= now)
        .toSorted((a, b) => a.due - b.due || a.index - b.index);
      for (const { index } of expected) expect(queue.shiftDue(now)).toBe(index);
      expect(queue.shiftDue(now)).toBe(undefined);
      expect(queue.size).toBe(list.length - expected.length);
    }),
  );
});
