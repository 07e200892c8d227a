import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parsed, problemsOf, withValue } from "./support/documents.ts";

const MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const unit = fc.constantFrom("ms", "s", "m", "h", "d");
const parts = fc.array(fc.tuple(fc.nat(100), unit), { minLength: 1, maxLength: 4 });

function lingerMs(text: string): number {
  return parsed(withValue("bridge.terminal_linger", text)).bridge.terminalLingerMs;
}

describe("a duration", { timeout: 30_000 }, () => {
  it("is the sum of its parts, in milliseconds", () => {
    fc.assert(
      fc.property(parts, (list) => {
        const text = list.map(([amount, name]) => `${amount}${name}`).join("");
        expect(lingerMs(text)).toBe(list.reduce((sum, [amount, name]) => sum + amount * MS[name], 0));
      }),
    );
  });

  it("may have a fraction", () => {
    expect(lingerMs("1.5s")).toBe(1500);
    expect(lingerMs("0.25m10ms")).toBe(15_010);
  });

  it("finding 4.5: may be of years, and not of more than ten", () => {
    expect(lingerMs("30d")).toBe(2_592_000_000);
    expect(lingerMs("3650d")).toBe(315_360_000_000);
    expect(problemsOf(withValue("bridge.terminal_linger", "3650d1ms"))).toEqual([
      expect.stringContaining("at most 3650 days"),
    ]);
  });

  it("is refused in any other form", () => {
    const other = fc.oneof(
      fc.integer(),
      fc.double(),
      fc.string().filter((text) => !/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)),
      parts.map((list) => `-${list.map(([amount, name]) => `${amount}${name}`).join("")}`),
      parts.map((list) => list.map(([amount, name]) => `${amount} ${name}`).join(" ")),
    );
    fc.assert(
      fc.property(other, (value) => {
        expect(problemsOf(withValue("bridge.terminal_linger", value))).toEqual([
          expect.stringMatching(/^bridge\.terminal_linger: (?:a|not a) duration/),
        ]);
      }),
    );
  });
});
