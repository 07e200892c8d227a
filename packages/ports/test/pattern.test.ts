import fc from "fast-check";
import { RE2JS } from "re2js";
import * as v from "valibot";
import { describe, expect, test, vi } from "vitest";
import { conditionSchema } from "../src/condition-schema.ts";
import { compilePattern, PATTERN_LIMITS, patternProblem } from "../src/pattern.ts";

describe("finding 1.1: a pattern takes time in proportion to the text", () => {
  /** With each the platform's own expressions take seconds, minutes or for ever. */
  const ordinary: readonly (readonly [pattern: string, text: (length: number) => string])[] = [
    [String.raw`^in/(\w+\s?)+$`, (length) => `in/${"a".repeat(length)}!`],
    [String.raw`\s+$`, (length) => `${" ".repeat(length)}x`],
    [String.raw`[a-z]+@[a-z]+\.com`, (length) => `@.com${"a".repeat(length)}`],
    [String.raw`^(a|a)*$`, (length) => `${"a".repeat(length)}b`],
    [String.raw`^(.*,){5}z`, (length) => `z${",".repeat(length)}`],
    [String.raw`(x+x+)+y`, (length) => `y${"x".repeat(length)}`],
  ];

  test.each(ordinary)("%s", (pattern, text) => {
    const matches = compilePattern(pattern);
    expect(matches(text(1_048_576))).toBe(false);
  });

  test("and when it cannot, it says that it cannot tell", () => {
    const matches = compilePattern("a[ab]{1000}[ab]{1000}c");
    expect(matches(`c${random(1_000)}`)).toBe(false);
    expect(matches(`c${random(200_000)}`)).toBeUndefined();
    expect(matches(`${random(200_000)}a${"b".repeat(2_000)}c`)).toBeUndefined();
    expect(matches("x".repeat(200_000))).toBe(false);
  });

  test("an automaton has the memory that it is given, and no program is simulated beyond the limit", () => {
    using compile = vi.spyOn(RE2JS, "compile");
    const matches = compilePattern("a[ab]{400}c");
    expect(matches(`c${random(100_000)}`)).toBeUndefined();
    const { dfa } = (compile.mock.results[0]!.value as RE2JS).re2();
    expect(dfa.stateBudget).toBe(PATTERN_LIMITS.automaton);
    expect(dfa.memBudget).toBeGreaterThanOrEqual(0);
    expect(dfa.stateCount * dfa.numClasses * 8).toBeLessThan(PATTERN_LIMITS.automaton);
  });
});

/** Letters a and b without an order that a pattern could follow; the same each time. */
function random(length: number): string {
  let state = 1;
  const letters: string[] = [];
  for (let i = 0; i < length; i++) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    letters.push(state > 1_073_741_824 ? "a" : "b");
  }
  return letters.join("");
}

describe("finding 1.1: a pattern that is not linear is refused, with its place and the remedy", () => {
  const LOOK = "look-ahead and look-behind are not supported: use a further condition";
  const BACK = "back-references are not supported: write out what may stand there";
  test.each([
    ["a(?=b)", `${LOOK} (character 2)`],
    ["[(?=]x(?!y)", `${LOOK} (character 7)`],
    [String.raw`\Q(?=\E(?=a)`, `${LOOK} (character 8)`],
    ["ab(?<=b)c", `${LOOK} (character 3)`],
    ["(?<!a)b", `${LOOK} (character 1)`],
    [String.raw`(a)\1`, `${BACK} (character 4)`],
    [String.raw`(?<n>a)\k<n>`, `${BACK} (character 8)`],
    [String.raw`x\u0041`, String.raw`\u is not supported: write \x{263A} for a character by its number (character 2)`],
    ["ab)", "unexpected ) (character 1)"],
    ["x[a", "missing closing ] (character 2)"],
    ["a++", "invalid nested repetition operator (character 2)"],
    ["(a{1000}){1000}", "invalid repeat count (character 10)"],
    [String.raw`x\ `.trimEnd(), "trailing backslash at end of expression"],
    ["a".repeat(4_097), "has 4097 characters, which is more than 4096: test for a part, or use several conditions"],
    [`(?:${"a".repeat(20)}){600}`, "its repetitions make 12002 steps, which is more than 10000: repeat fewer times"],
  ])("%s", (pattern, problem) => {
    expect(patternProblem(pattern)).toBe(problem);
  });

  test.each(["", "^a$", "a".repeat(4_096), String.raw`(?i)^p(?P<n>\d{1,3})\.[[:alpha:]]+\pL\x{263A}`, "(?<n>a)"])(
    "%s is taken",
    (pattern) => {
      expect(patternProblem(pattern)).toBeUndefined();
    },
  );

  test("no problem quotes the pattern, which may be somebody's secret", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("(", ")", "[", "?", "=", "\\", "{", "*", "Ж") }), (pattern) => {
        expect(patternProblem(pattern) ?? "").not.toContain("Ж");
      }),
    );
  });

  test("the schema tells the problem", () => {
    const { issues } = v.safeParse(conditionSchema, { field: "subject", op: "regex", value: "a(?=b)" });
    expect(issues?.map(({ message }) => message)).toEqual([`not a regular expression of RE2: ${LOOK} (character 2)`]);
  });
});

test("finding 1.1: patterns mean what the platform's own mean, where both have them", () => {
  const part = fc.constantFrom(
    "a",
    "b",
    ".",
    "[ab]",
    "[^a]",
    String.raw`\d`,
    String.raw`\w`,
    "(a|bc)",
    "(?:ab)",
    "^",
    "$",
  );
  const times = fc.constantFrom("", "", "*", "+", "?", "{2}", "{1,3}", "*?");
  const pattern = fc
    .array(fc.tuple(part, times), { maxLength: 6 })
    .map((parts) => parts.map(([one, many]) => (one === "^" || one === "$" ? one : one + many)).join(""));
  const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "1", "\n", "ü", "😀"), maxLength: 12 });
  fc.assert(
    fc.property(pattern, text, (written, where) => {
      // With the flag u, V8 14.6 does not find /[^a]a$/ in "😀a".
      expect(compilePattern(written)(where)).toBe(new RegExp(written, "v").test(where));
    }),
  );
});
