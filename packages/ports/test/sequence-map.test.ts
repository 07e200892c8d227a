import fc from "fast-check";
import { expect, test } from "vitest";
import { SequenceMap } from "../src/sequence-map.ts";

/** Neighbours, keys that share their place with others, and the largest that there are. */
const anyKey = fc.oneof(
  fc.nat(20),
  fc.nat(300),
  fc.nat(5).map((turn) => turn * 65_536),
  fc.constantFrom(2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER),
);
const step = fc.record({ does: fc.constantFrom("set", "set", "take", "clear" as const), key: anyKey, value: fc.nat() });

test("a sequence map holds what a Map would hold, whatever the keys, and lists it in their order", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const map = new SequenceMap<{ readonly value: number }>();
      const model = new Map<number, { readonly value: number }>();
      for (const { does, key, value } of steps) {
        if (does === "set") {
          map.set(key, { value });
          model.set(key, { value });
        } else if (does === "take") {
          expect(map.take(key)).toEqual(model.get(key));
          model.delete(key);
        } else if (value % 5 === 0) {
          map.clear();
          model.clear();
        }
        expect(map.get(key)).toEqual(model.get(key));
        expect(map.has(key)).toBe(model.has(key));
        expect(map.size).toBe(model.size);
      }
      expect(map.entries()).toEqual([...model].toSorted(([one], [other]) => one - other));
    }),
  );
});

test("a sequence map of more entries than it has places for keeps all of them", () => {
  const map = new SequenceMap<{ readonly key: number }>();
  for (let key = 1; key <= 70_000; key++) map.set(key, { key });
  expect(map.size).toBe(70_000);
  const taken = Array.from({ length: 70_000 }, (_, before) => map.take(before + 1)?.key);
  expect(taken).toEqual(Array.from({ length: 70_000 }, (_, before) => before + 1));
  expect(map.size).toBe(0);
});
