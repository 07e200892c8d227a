import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { filterProblem, isShared, matches, overlaps, patternOf, topicProblem } from "../src/topic.ts";

describe("a topic filter", () => {
  test.each([
    ["a/b", "a/b", true],
    ["a/b", "a/c", false],
    ["a/+", "a/b", true],
    ["a/+", "a/b/c", false],
    ["a/+", "a/", true],
    ["a/+", "a", false],
    ["+", "a", true],
    ["+/+", "/a", true],
    ["a/#", "a/b/c", true],
    ["a/#", "a", true],
    ["a/#", "ab", false],
    ["#", "a/b", true],
    ["#", "$SYS/uptime", false],
    ["+/uptime", "$SYS/uptime", false],
    ["$SYS/#", "$SYS/uptime", true],
    ["a/b", "a/b/", false],
  ])("%s and the topic %s: %s", (filter, topic, expected) => {
    expect(matches(filter, topic)).toBe(expected);
  });

  test("is shared out among subscribers when it has a group", () => {
    expect(["$share/group/a/#", "$share/group//"].map(isShared)).toEqual([true, true]);
    expect(["a/#", "share/group/a", "$SYS/share/a", "$shared/group/a"].map(isShared)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  test("of a shared subscription is what comes after its group", () => {
    expect(patternOf("$share/group/a/#")).toBe("a/#");
    expect(patternOf("a/#")).toBe("a/#");
  });

  test.each(["a", "/", "a//b", "+", "#", "a/+/b/#", "$share/g/a/#", "$SYS/#", "Zürich/+"])("%s is one", (filter) => {
    expect(filterProblem(filter)).toBeUndefined();
  });

  test.each([
    "",
    "a/#/b",
    "a#",
    "a+/b",
    "$share/g",
    "$share//a",
    "$share/g/",
    "$share/+/a",
    "a\0b",
    "a\nb",
    "x".repeat(65_536),
  ])("%j is none", (filter) => {
    expect(filterProblem(filter)).toEqual(expect.any(String));
  });
});

describe("a topic to publish to", () => {
  test.each(["a", "/", "a//b", "$aws/things", "x".repeat(65_535)])("%s is one", (topic) => {
    expect(topicProblem(topic)).toBeUndefined();
  });

  test.each(["", "a/+", "#", "a\0", "a\u0085b", "a\uFFFFb", "\ud800", "é".repeat(32_768)])("%j is none", (topic) => {
    expect(topicProblem(topic)).toEqual(expect.any(String));
  });
});

describe("overlapping filters", () => {
  test.each([
    ["a/#", "a/+", true],
    ["a/#", "a", true],
    ["a/+/c", "a/b/+", true],
    ["a/b", "a/b", true],
    ["a/+", "b/+", false],
    ["a/+", "a/b/c", false],
    ["#", "$SYS/#", false],
    ["#", "a", true],
  ])("%s and %s: %s", (one, other, expected) => {
    expect(overlaps(one, other)).toBe(expected);
    expect(overlaps(other, one)).toBe(expected);
  });

  test("two filters that match one topic overlap", () => {
    const level = fc.constantFrom("a", "b", "");
    const filter = fc
      .tuple(fc.array(fc.oneof(level, fc.constant("+")), { minLength: 1, maxLength: 4 }), fc.boolean())
      .map(([levels, all]) => (all ? [...levels, "#"] : levels).join("/"));
    const topic = fc.array(level, { minLength: 1, maxLength: 4 }).map((levels) => levels.join("/"));
    const property = fc.property(filter, filter, topic, (one, other, name) => {
      fc.pre(matches(one, name) && matches(other, name));
      return overlaps(one, other);
    });
    expect(fc.check(property, { numRuns: 500, maxSkipsPerRun: 1_000 }).failed).toBe(false);
  });
});
