import { cpuTime } from "@bridge/tooling/cpu-time";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileCondition, type Condition, Subject } from "../src/conditions.ts";
import { boundTracestate, type Envelope, isReserved, RESERVED_PREFIX } from "../src/index.ts";
import { withoutOuterBlanks } from "../src/internal.ts";

const LENGTH = 65_536;

/** What a stranger may have written: the worst that is known, of each kind that somebody reads. */
const TEXTS: Readonly<Record<string, (length: number) => string>> = {
  "marks that have to change places": (length) => `x${"\u0315".repeat(length / 2)}${"\u0316".repeat(length / 2)}`,
  "marks in turn": (length) => `x${"\u0315\u0316".repeat(length / 2)}`,
  "one character for eighteen": (length) => `x${"\ufdfa".repeat(length)}`,
  "characters that are not seen": (length) => `x${"\u200b".repeat(length)}`,
  "blanks inside": (length) => `a=${" ".repeat(length)}b`,
  "tabs, each before a letter": (length) => `a=${"\ta".repeat(length / 2)}`,
  separators: (length) => `a=1${",".repeat(length)}`,
  members: (length) => "a=1,".repeat(length / 4),
  digits: (length) => "1".repeat(length),
};

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  isReserved,
  boundTracestate,
  withoutOuterBlanks,
  ...Object.fromEntries(
    (
      [
        ["eq", "x"],
        ["contains", "ab"],
        ["prefix", "a=1,a=1"],
        ["gt", 5],
        ["regex", "(a|a)*b$"],
      ] as const
    ).map(([op, value]) => [`condition ${op}`, reader({ field: "subject", op, value })]),
  ),
};

function reader(condition: Condition): (text: string) => unknown {
  const holds = compileCondition(condition);
  return (text) => holds(new Subject({ subject: text } as Envelope));
}

describe("finding 1.1: reading what a message brings takes time in proportion to it", () => {
  test.each(Object.keys(READERS))("%s", async (name) => {
    for (const text of Object.values(TEXTS)) {
      const read = READERS[name]!;
      const [once, fourTimes] = [text(LENGTH), text(4 * LENGTH)];
      read(once);
      // Sixteen times as much would be the square; anything short may meet a collection of garbage.
      const least = Math.max(await cpuTime(() => read(once)), 50);
      expect(await cpuTime(() => read(fourTimes))).toBeLessThan(10 * least);
    }
  });
});

describe("a reserved name", () => {
  test("is what one is that was normalised as a whole", () => {
    const unseen = /[\p{M}\p{Default_Ignorable_Code_Point}\p{Cc}\s]/gu;
    const whole = (name: string): boolean =>
      name.normalize("NFKD").replace(unseen, "").toUpperCase().slice(0, 9).toLowerCase() === RESERVED_PREFIX;
    const letter = fc.oneof(
      fc.constantFrom(..."xX-.bridgeBRIDGEıİſＸ𝐛ⓡ"),
      fc.constantFrom("\u0307", "\u0315", "\u0316", "\u200b", "\u0000", " ", "\u00ad"),
      fc.nat(70).map((times) => "\u0315".repeat(times)),
      fc.string({ unit: "binary", maxLength: 1 }),
    );
    const near = fc
      .tuple(fc.array(letter, { maxLength: 3 }), fc.array(letter, { minLength: 9, maxLength: 9 }))
      .map(([before, between]) => before.join("") + [...RESERVED_PREFIX].map((each, i) => each + between[i]).join(""));
    fc.assert(
      fc.property(
        fc.oneof(
          near,
          fc.array(letter).map((letters) => letters.join("")),
        ),
        (name) => {
          // Of a name in plain letters nothing is taken away: a space inside is seen.
          fc.pre(!/^[!-~]+$/.test(name) && !/^[!-wyz{|}~]/i.test(name));
          expect(isReserved(name)).toBe(whole(name));
        },
      ),
      { numRuns: 100 },
    );
  });
});

test("blanks at the ends of a text are spaces and tabs", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(" ", "\t", "a", "\n", "\u00a0") }), (text) => {
      expect(withoutOuterBlanks(text)).toBe(text.replace(/^[ \t]+|[ \t]+$/g, ""));
    }),
  );
});
