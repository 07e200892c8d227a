import { expect, test } from "vitest";
import { growthOf, isFlat } from "../src/growth.ts";

const readings = (at: (part: number) => number): readonly number[] =>
  Array.from({ length: 120 }, (_, index) => at(index / 119));

test("what grows at its beginning and goes up and down like a saw after it is flat", () => {
  const growth = growthOf(readings((part) => (part < 0.25 ? 400 * part : 100) + ((part * 1_000) % 30)));
  expect(isFlat(growth)).toBe(true);
});

test("a peak at the very end lifts the line, and is no growth by the means of the quarters", () => {
  const growth = growthOf(readings((part) => (part > 0.96 ? 150 : 100)));
  expect(growth.slope).toBeGreaterThan(0.1);
  expect(isFlat(growth)).toBe(true);
});

test("what grows all the time is not flat", () => {
  const growth = growthOf(readings((part) => 100 + 40 * part));
  expect(growth.slope).toBeCloseTo(140 / 110 - 1, 1);
  expect(isFlat(growth)).toBe(false);
});
