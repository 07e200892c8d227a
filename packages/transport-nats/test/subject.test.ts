import { expect, test } from "vitest";
import { filterProblem, nameProblem, subjectProblem } from "../src/subject.ts";

test.each([
  ["a.b-c.d_e", undefined],
  ["a.b*c.x>y", undefined],
  ["ä.😀", undefined],
  ["", "is empty"],
  ["a b", "holds white space or a control character"],
  ["a\u0000", "holds white space or a control character"],
  [".a", "has an empty token"],
  ["a.", "has an empty token"],
  ["a..b", "has an empty token"],
  ["a.*.b", 'holds "*" or ">" as a token, which stand for subjects in filters only'],
  ["a.>", 'holds "*" or ">" as a token, which stand for subjects in filters only'],
  ["a.".repeat(2_000) + "a", "is longer than 3072 bytes"],
  ["ä".repeat(2_000), "is longer than 3072 bytes"],
])("the subject %j", (subject, problem) => {
  expect(subjectProblem(subject)).toBe(problem);
});

test.each([
  [">", undefined],
  ["a.*.>", undefined],
  ["a>.b", undefined],
  ["a.>.b", 'has a ">" that is not the last token'],
  [">.b", 'has a ">" that is not the last token'],
])("the filter %j", (filter, problem) => {
  expect(filterProblem(filter)).toBe(problem);
});

test.each(["a.b", "a b", "a*", "a>", "a/b", "a\\b", "a\tb"])("the name %j", (name) => {
  expect(nameProblem(name)).toMatch(/^holds/);
});
