import fc from "fast-check";
import { expect, test } from "vitest";
import { fingerprintOf } from "../src/internal.ts";

const FAILURE = { routeId: "orders", bindingId: "to-shop", errorCode: "UNAVAILABLE" } as const;
const of = (lastError: string, rest: object = {}) => fingerprintOf({ ...FAILURE, lastError, ...rest });

const varying = fc.oneof(
  fc.uuid(),
  fc.integer().map(String),
  fc.float({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }).map((n) => n.toFixed(2)),
  fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((at) => at.toISOString()),
  fc.ipV4(),
  fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 8, maxLength: 64 }),
  fc.string({ unit: fc.constantFrom(..."abc 123-/"), maxLength: 30 }).map((text) => `"${text}"`),
);

test("operators 1.5: 10,000 ids, numbers and times in one text come to one fingerprint", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(varying, varying, (id, when) => {
      seen.add(of(`503 from the shop for ${id}, tried at ${when}`));
    }),
    { numRuns: 10_000 },
  );
  expect([...seen]).toEqual([of("503 from the shop for 17, tried at 2026-11-22T10:00:00.000Z")]);
});

test("operators 1.5: 200 texts come to 200 fingerprints", () => {
  const words = "abcdefghijklmnopqrst".split("").map((letter) => `${letter}y`);
  const texts = words.flatMap((one) => words.slice(0, 10).map((other) => `the ${one} refused the ${other}`));
  expect(new Set(texts.map((text) => of(text))).size).toBe(200);
});

test("route, binding and code tell failures with one text apart", () => {
  const others = [{}, { routeId: "r" }, { bindingId: "b" }, { errorCode: "TIMEOUT" }];
  expect(new Set(others.map((rest) => of("away", rest))).size).toBe(4);
});

test("is 16 hexadecimal digits, whatever the text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 3_000 }), (text) => {
      expect(of(text)).toMatch(/^[0-9a-f]{16}$/);
    }),
  );
});
