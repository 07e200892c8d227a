import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { durationPattern } from "../src/duration-pattern.ts";
import { duration, integer, parseDuration, text } from "../src/options.ts";

describe("durations", () => {
  test.each([
    ["250ms", 250],
    ["1s", 1_000],
    ["1m30s", 90_000],
    ["2h", 7_200_000],
    ["0s", 0],
    ["1.5s", 1_500],
    ["30d", 2_592_000_000],
  ])("%s is %i ms", (written, ms) => {
    expect(parseDuration(written)).toBe(ms);
  });

  test.each(["", "5", "-1s", "1 s", "1w", "s", "1s ", "1e3s", "99999d", "NaNs"])("%j is none", (written) => {
    expect(parseDuration(written)).toBeUndefined();
  });

  test("parts add up, and a result is always a whole number, of ten years at most", () => {
    const part = fc.tuple(fc.nat(10_000), fc.constantFrom("ms", "s", "m", "h", "d"));
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
        const factor = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
        const total = parts.reduce((sum, [amount, unit]) => sum + amount * factor[unit], 0);
        const parsed = parseDuration(parts.map(([amount, unit]) => `${amount}${unit}`).join(""));
        expect(parsed).toBe(total <= 3_650 * 86_400_000 ? total : undefined);
      }),
    );
  });

  test("a bare number is refused with the remedy", () => {
    expect(v.safeParse(duration(), 30).issues?.[0].message).toMatch(/string with a unit/);
    expect(v.safeParse(duration(), "30").issues?.[0].message).toMatch(/number with a unit/);
    expect(v.parse(duration(), "30s")).toBe(30_000);
  });
});

describe("the pattern of a duration with bounds", () => {
  const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
  const bounds = fc
    .tuple(fc.nat({ max: 100_000_000 }), fc.nat({ max: 400_000_000 }))
    .map(([min, more]) => [min, min + more] as const);
  const near = fc.tuple(
    bounds,
    fc.constantFrom("ms", "s", "m", "h", "d"),
    fc.boolean(),
    fc.double({ min: -2, max: 2, noNaN: true }),
    fc.nat({ max: 5 }),
  );

  test("takes all that are within, and no others but a tenth of a unit beside one", () => {
    fc.assert(
      fc.property(near, ([[min, max], unit, upper, off, digits]) => {
        const amount = Math.max(0, (upper ? max : min) / UNITS[unit] + off).toFixed(digits);
        const ms = Math.round(Number(amount) * UNITS[unit]);
        const taken = new RegExp(durationPattern(min, max), "u").test(`${amount}${unit}`);
        const within = ms >= min && ms <= max;
        const far = !within && Math.min(Math.abs(ms - min), Math.abs(ms - max)) > UNITS[unit] / 10 + 1;
        expect({ missed: within && !taken, loose: far && taken }).toEqual({ missed: false, loose: false });
      }),
      { numRuns: 300 },
    );
  });

  test("takes sums, leading zeros and nothing else", () => {
    const pattern = new RegExp(durationPattern(1, 90_000), "u");
    for (const good of ["1m30s", "001s", "0s5ms", "1.5m"]) expect(good).toMatch(pattern);
    for (const bad of ["0s", "0ms", "0.0s", "2m", "91s", "1h0s1", "-1s", "1 s", "1S", ""])
      expect(bad).not.toMatch(pattern);
  });
});

test("integers have bounds, and say them", () => {
  expect(v.parse(integer(1, 10), 10)).toBe(10);
  for (const wrong of [0, 11, 1.5, Number.NaN, "5", null]) {
    expect(v.safeParse(integer(1, 10), wrong).issues?.[0].message).toBe("expected an integer from 1 to 10");
  }
  expect(v.safeParse(integer(1), 0).issues?.[0].message).toBe("expected an integer at least 1");
});

test("text is not empty", () => {
  expect(v.safeParse(text(), "").success).toBe(false);
  expect(v.safeParse(text(), "x").success).toBe(true);
});
