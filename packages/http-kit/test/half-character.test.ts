import fc from "fast-check";
import { expect, test } from "vitest";
import { halfCharacterIn } from "../src/half-character.ts";

const ASK = "give whole Unicode characters";

/** In what JSON says of it. */
function halfIn(value: unknown) {
  return halfCharacterIn(value, JSON.stringify(value) ?? "");
}

test.each<readonly [unknown, PropertyKey[], string]>([
  ["\ud800", [], String.raw`has half of a character, \ud800 at 1: ${ASK}`],
  [{ a: { b: ["x", "😀\udfff"] } }, ["a", "b", 1], String.raw`has half of a character, \udfff at 3: ${ASK}`],
  [{ a: [{}, { "k\ud83d": 1 }] }, ["a", 1], String.raw`a name has half of a character, \ud83d at 2: ${ASK}`],
  [{ a: "\ud801", b: "\ud802" }, ["a"], String.raw`has half of a character, \ud801 at 1: ${ASK}`],
])("%j has half of a character, and where is told", (value, keys, problem) => {
  expect(halfIn(value)).toEqual({ keys, problem });
});

test.each([undefined, null, 7, "", "😀", "\\ud800", { a: [true, null, { b: "\ufffd" }] }])("%j has none", (value) => {
  expect(halfIn(value)).toBeUndefined();
});

test("what is nested deeper than calls can be is looked through", () => {
  const depth = 300_000;
  const text = `${"[".repeat(depth)}"\\ud800"${"]".repeat(depth)}`;
  expect(halfCharacterIn(JSON.parse(text), text)?.keys).toHaveLength(depth);
});

const text = fc.string({ unit: fc.constantFrom("a", "\\", "😀", "\ud83d", "\ude00"), maxLength: 3 });
const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.constantFrom(null, 1),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(text, tie("value"), { maxKeys: 3 }),
  ),
}));

/** As it says, a part after the other. */
function firstIn(value: unknown, keys: readonly PropertyKey[] = []): readonly PropertyKey[] | undefined {
  if (typeof value === "string") return value.isWellFormed() ? undefined : keys;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, part] of Object.entries(value)) {
    if (!name.isWellFormed()) return keys;
    const found = firstIn(part, [...keys, Array.isArray(value) ? Number(name) : name]);
    if (found !== undefined) return found;
  }
  return undefined;
}

test("the first one is found, wherever it stands", () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      expect(halfIn(value)?.keys).toEqual(firstIn(value));
    }),
  );
});

test("nothing is looked through of which no escape says half of a character", () => {
  const untouched = new Proxy([], {
    ownKeys: () => expect.fail("was looked through"),
    get: () => expect.fail("was looked through"),
  });
  expect(halfCharacterIn(untouched, String.raw`["\u0041","\\ud7ff","ud800"]`)).toBeUndefined();
});
