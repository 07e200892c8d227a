import { atOnce } from "@bridge/ports/internal";
import fc from "fast-check";
import { expect, it } from "vitest";
import { pack, unpack } from "../src/packed-value.ts";

const value = fc.oneof(
  fc.anything({ values: [fc.string(), fc.double(), fc.boolean(), fc.constant(null)], withNullPrototype: false }),
  fc.dictionary(
    fc.oneof(fc.string(), fc.constant("__proto__")),
    fc.array(fc.integer(), { maxLength: 100, size: "max" }),
  ),
);

it("what is packed comes out as it was, a part a step", () => {
  fc.assert(
    fc.property(value, (one) => {
      expect(atOnce(unpack(pack(one)))).toEqual(one);
    }),
  );
  const own = JSON.parse('{"__proto__": [{"__proto__": 1}]}') as object;
  expect(JSON.stringify(atOnce(unpack(pack(own))))).toBe(JSON.stringify(own));
  const list = { list: Array.from({ length: 1_000 }, (_, id) => ({ id })) };
  expect([...unpack(pack(list))].length).toBeGreaterThan(20);
});

it("what aliases make of a long text is refused", () => {
  const text = "x".repeat(4_000_000);
  expect(() => pack({ all: Array.from({ length: 1_000 }, () => text) })).toThrow("unfold to too much");
});
