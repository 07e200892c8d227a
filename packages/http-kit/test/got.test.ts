import * as v from "valibot";
import { expect, test } from "vitest";
import { decodeBody, decodeQuery } from "../src/decode.ts";

const word = v.picklist(["on", "off"], "expected on or off");
const schema = v.strictObject({
  word: v.optional(word),
  text: v.optional(
    v.pipe(v.string("expected a string"), v.nonEmpty("is empty"), v.maxLength(3, "has more than 3 characters")),
  ),
  span: v.optional(v.pipe(v.string(), v.transform(Number), v.maxValue(9, "must be at most 9"))),
  inner: v.optional(
    v.strictObject({ list: v.array(v.number("expected a number"), "expected a list") }, "expected an object"),
  ),
  secret: v.optional(v.custom<string>((value) => value === "open", "is not the secret")),
});

test.each<readonly [object, string]>([
  [{ word: "half" }, 'word: expected on or off (got "half")'],
  [{ word: "x".repeat(65) }, `word: expected on or off (got "${"x".repeat(64)}…")`],
  [{ word: "a\nb" }, String.raw`word: expected on or off (got "a\nb")`],
  [{ word: false }, "word: expected on or off (got false)"],
  [{ text: null }, "text: expected a string (got null)"],
  [{ text: {} }, "text: expected a string (got an object)"],
  [{ text: "" }, "text: is empty"],
  [{ text: "four" }, "text: has more than 3 characters (got 4)"],
  [{ span: "10" }, 'span: must be at most 9 (got "10")'],
  [{ inner: { list: [1, "2"] } }, 'inner.list[1]: expected a number (got "2")'],
  [{ inner: "x" }, 'inner: expected an object (got "x")'],
  [{ secret: "hunter2" }, "secret: is not the secret"],
  [{ secrets: "hunter2" }, "secrets: unknown field"],
])("%j: %s", (body, problem) => {
  expect(() => decodeBody(schema, Buffer.from(JSON.stringify(body)))).toThrow(
    expect.objectContaining({ status: 400, message: `invalid request body: ${problem}` }),
  );
});

test("a query, too, is told what it has", () => {
  expect(() => decodeQuery(v.object({ word: v.optional(word) }), "?word=half")).toThrow(
    'invalid query: word: expected on or off (got "half")',
  );
});
