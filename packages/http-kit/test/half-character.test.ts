import { expect, test } from "vitest";
import { halfCharacterIn } from "../src/half-character.ts";

const ASK = "give whole Unicode characters";

test.each<readonly [unknown, PropertyKey[], string]>([
  ["\ud800", [], String.raw`has half of a character, \ud800 at 1: ${ASK}`],
  [{ a: { b: ["x", "😀\udfff"] } }, ["a", "b", 1], String.raw`has half of a character, \udfff at 3: ${ASK}`],
  [{ a: [{}, { "k\ud83d": 1 }] }, ["a", 1], String.raw`a name has half of a character, \ud83d at 2: ${ASK}`],
  [{ a: "\ud801", b: "\ud802" }, ["a"], String.raw`has half of a character, \ud801 at 1: ${ASK}`],
])("%j has half of a character, and where is told", (value, keys, problem) => {
  expect(halfCharacterIn(value)).toEqual({ keys, problem });
});

test.each([undefined, null, 7, "", "😀", { a: [true, null, { b: "\ufffd" }] }])("%j has none", (value) => {
  expect(halfCharacterIn(value)).toBeUndefined();
});

test("what is nested deeper than calls can be is looked through", () => {
  const depth = 300_000;
  const text = `${"[".repeat(depth)}"\\ud800"${"]".repeat(depth)}`;
  expect(halfCharacterIn(JSON.parse(text))?.keys).toHaveLength(depth);
});
