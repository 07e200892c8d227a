import { describe, expect, it } from "vitest";
import { parseDocument } from "../src/parse-document.ts";

/** What is repeatedst a text, with its place. */
function faults(text: string): readonly string[] {
  const parsed = parseDocument(text);
  if (!("problems" in parsed)) return [];
  return parsed.problems.map(({ position, message }) => `${position.line}:${position.column} ${message}`);
}

function valueOf(text: string): unknown {
  const parsed = parseDocument(text);
  if ("problems" in parsed) throw new Error(parsed.problems.map(({ message }) => message).join());
  return parsed.value;
}

describe("a document's text", { timeout: 30_000 }, () => {
  it.each([
    ["a: 1\nb:\n  a: 1\n  a: 2\n", "4:3 this key is there already: remove one of them"],
    ['{"a": 1, "a": 2}', "1:10 this key is there already: remove one of them"],
    ["a: *nobody\n", "1:4 no anchor of this name stands above"],
    ["a: *b\nb: &b 1\n", "1:4 no anchor of this name stands above"],
    ["a: &a [*a]\n", "1:8 this alias stands inside of what it stands for"],
    ["a: !secret x\n", "1:4 tags other than those of JSON's types are not supported: remove it"],
    ["a: !!binary aGk=\n", "1:4 tags other than those of JSON's types are not supported: remove it"],
    [
      "a: &x {b: 1}\nc:\n  <<: *x\n",
      expect.stringMatching(/^3:3 merge keys \(<<\) are not supported: write the keys out/),
    ],
    ["mode: 0644\n", expect.stringMatching(/^1:7 a number that begins with 0 could be octal: .* in quotes$/)],
    [
      "id: 12345678901234567890\n",
      expect.stringMatching(/^1:5 this number is too long to be kept exactly: .* in quotes$/),
    ],
    ["%YAML 1.1\n---\na: yes\n", "1:1 the document is read as YAML 1.2: remove the line that begins with %YAML"],
    ["a: 1\rb: 2\r", "1:5 a line ends in CR alone: save the file with LF or CRLF"],
    ["a\0:\0", "1:2 a byte of 0 stands here: save the file as UTF-8, not as UTF-16"],
    ["a: 1\n---\nb: 2\n", "2:1 a file holds one document: remove everything after the line ---"],
    ["? [a]\n: 1\n", "1:3 a key is a string"],
    ["a: b: c\n", "1:4 a block cannot stand here: put it on lines of its own, or quote a string that holds a colon"],
    ["a:\n\tb: 1\n", expect.stringMatching(/^2:1 tabs cannot indent/)],
    ['a: "\\q"\n', "1:5 a string in double quotes holds an escape that is not known: double the backslash"],
    ["a: @x\n", "1:4 a plain string cannot begin with this character: put it in quotes"],
    ["a: [1, 2\n", expect.stringContaining("a bracket or brace is not closed")],
    ["a: 'x\n", expect.stringContaining("a character is missing")],
  ])("%j is told its fault and place", (text, fault) => {
    expect(faults(text)).toContainEqual(fault);
  });

  it("is never quoted: it may hold a secret", () => {
    for (const text of [
      "a: cAnArY: b",
      "a: !cAnArY x",
      "a: *cAnArY",
      "cAnArY: 1\ncAnArY: 2",
      '"cAnArY',
      "a: @cAnArY",
    ]) {
      expect(faults(text).length).toBeGreaterThan(0);
      expect(faults(text).join("\n")).not.toContain("cAnArY");
    }
  });

  it("has the plain values of YAML 1.2, and no surprises of 1.1", () => {
    expect(valueOf('a: yes\nb: 0x10\nc: 2001-01-01\nd: ~\ne: 10\nf: 1e3\n1: x\ntrue: y\n"<<": {z: 1}\n')).toEqual({
      a: "yes",
      b: 16,
      c: "2001-01-01",
      d: null,
      e: 10,
      f: 1000,
      "1": "x",
      true: "y",
      "<<": { z: 1 },
    });
    expect(valueOf("")).toBeNull();
    expect(Object.keys(valueOf("__proto__: {polluted: true}\n") as object)).toEqual(["__proto__"]);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("may use aliases, the last anchor of a name counting, without unfolding to gigabytes", () => {
    expect(valueOf("a: &x [1, &y 2]\nb: *x\nc: *y\nd: &x 3\ne: *x\n")).toEqual({
      a: [1, 2],
      b: [1, 2],
      c: 2,
      d: 3,
      e: 3,
    });
    const laughs = Array.from({ length: 12 }, (_, n) => `l${n + 1}: &l${n + 1} [${`*l${n}, `.repeat(9)}*l${n}]`);
    expect(faults(["l0: &l0 [ha]", ...laughs].join("\n"))).toContainEqual(
      expect.stringMatching(/^\d+:\d+ the aliases unfold to too much/),
    );
  });

  it("may be absurdly deep, or have very many keys, and is read or refused in good time", () => {
    expect(faults("[".repeat(100_000))).toContainEqual(expect.stringContaining("is nested too deep"));
    expect(faults("a: ".repeat(10_000))).not.toEqual([]);
    const keys = Array.from({ length: 20_000 }, (_, n) => `k${n}: 1`).join("\n");
    expect(Object.keys(valueOf(keys) as object)).toHaveLength(20_000);
  });

  it("knows the place of what a path names", () => {
    const parsed = parseDocument("a:\n  - b: &x {c: 1}\n  - *x\nd: *x\n");
    if ("problems" in parsed) throw new Error("the text is good");
    const place = (...path: readonly (string | number)[]): string => {
      const position = parsed.positionOf(path);
      return `${position?.line}:${position?.column}`;
    };
    expect(place()).toBe("1:1");
    expect(place("a")).toBe("1:1");
    expect(place("a", 0)).toBe("2:5");
    expect(place("a", 0, "b", "c")).toBe("2:12");
    expect(place("a", 1)).toBe("3:5");
    expect(place("a", 1, "c")).toBe("2:12");
    expect(place("d", "c", "further")).toBe("2:12");
    expect(place("a", 7)).toBe("1:1");
    expect(place("none", "at all")).toBe("1:1");
  });
});
