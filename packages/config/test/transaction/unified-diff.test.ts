import { atOnce } from "@bridge/ports/internal";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { unifiedDiff } from "../../src/transaction/unified-diff.ts";

const diff = (before: string, after: string): string =>
  atOnce(unifiedDiff({ name: "41", text: before }, { name: "42", text: after }));

/** What `patch` makes of `before`; throws when a line is not what the diff says. */
function patched(before: string, text: string): string {
  const lines = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const [out, rest] = [[] as string[], text.replaceAll("\n\\ No newline at end of file\n", "\u0000\n")];
  let at = 0;
  for (const line of rest.split("\n").slice(2, -1)) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@$/.exec(line);
    if (hunk !== null) {
      const start = Number(hunk[1]) - (hunk[2] === "0" ? 0 : 1);
      while (at < start) out.push(lines[at++] ?? "");
      continue;
    }
    const content = line.endsWith("\u0000") ? line.slice(1, -1) : `${line.slice(1)}\n`;
    if (line[0] !== "+") expect(lines[at++]).toBe(content);
    if (line[0] !== "-") out.push(content);
  }
  return [...out, ...lines.slice(at)].join("");
}

describe("operators 7: what differs between two texts", () => {
  it("is what diff -u tells", () => {
    const before = "a\nb\nc\nd\ne\nf\ng\nh\n";
    expect(diff(before, before.replace("e\n", "E\nEE\n"))).toBe(
      "--- 41\n+++ 42\n@@ -2,7 +2,8 @@\n b\n c\n d\n-e\n+E\n+EE\n f\n g\n h\n",
    );
    expect(diff("", "a")).toBe("--- 41\n+++ 42\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n");
    expect(diff("a\n", "a\n")).toBe("");
  });

  it("makes the one of the other", () => {
    const line = fc.constantFrom("a\n", "b\n", "c\n", "d\n", "\n");
    const text = fc
      .tuple(fc.array(line, { maxLength: 40 }), fc.constantFrom("", "x"))
      .map(([lines, end]) => lines.join("") + end);
    fc.assert(
      fc.property(text, text, (before, after) => {
        const told = diff(before, after);
        expect(told === "" ? before : patched(before, told)).toBe(after);
      }),
      { numRuns: 2_000 },
    );
  });

  it("is told as one change where it would take long to find", () => {
    const many = (word: string): string => Array.from({ length: 3_000 }, (_, i) => `${word} ${i}\n`).join("");
    const [before, after] = [`same\n${many("old")}`, `same\n${many("new")}`];
    const told = diff(before, after);
    expect(told.startsWith("--- 41\n+++ 42\n@@ -1,3001 +1,3001 @@\n same\n-old 0\n")).toBe(true);
    expect(patched(before, told)).toBe(after);
  });
});
