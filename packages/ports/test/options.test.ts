import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
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
