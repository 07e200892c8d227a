import * as v from "valibot";
import { describe, expect, it, test } from "vitest";
import { decodeBody, decodeLine } from "../src/decode.ts";
import { decodeQuery } from "../src/decode-query.ts";
import { shown } from "../src/got.ts";
import { HttpError } from "../src/http-error.ts";
import { showable } from "../src/showable.ts";

const word = v.picklist(["on", "off"], "expected on or off");
const time = v.pipe(
  v.string("expected a time"),
  showable(),
  v.check((value) => value.includes(":"), "expected a time"),
);
const schema = v.strictObject({
  word: v.pipe(v.optional(v.pipe(word, v.description("A word."))), v.description("One.")),
  flag: v.optional(v.boolean("expected true or false")),
  size: v.optional(v.pipe(v.number("expected a number"), v.maxValue(9, "expected at most 9")), 1),
  time: v.optional(time),
  span: v.optional(v.pipe(time, v.transform(Number), v.maxValue(9, "must be at most 9"))),
  text: v.optional(
    v.pipe(
      v.string("expected a string"),
      v.nonEmpty("is empty"),
      v.maxLength(9, "has more than 9 characters"),
      v.regex(/^a/, "expected an a first"),
    ),
  ),
  inner: v.optional(v.strictObject({ list: v.array(v.number("expected a number"), "expected a list") })),
  own: v.optional(v.custom<string>((value) => value === "open", "is not the secret")),
  late: v.optional(v.never("comes too late")),
});
const whole = v.pipe(
  schema,
  v.check(({ size }) => size !== 7, "is no good"),
  v.forward(
    v.check(({ time: at }) => at !== "0:0", "is none of the day"),
    ["time"],
  ),
);

function refusal(work: () => unknown): HttpError {
  try {
    work();
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

describe("what was refused is told with what was sent, and recorded without it", () => {
  it.each<readonly [body: object, recorded: string, got: string]>([
    [{ word: "half" }, "word: expected on or off", '"half"'],
    [{ word: false }, "word: expected on or off", "false"],
    [{ word: null }, "word: expected on or off", "null"],
    [{ word: ["hunter2"] }, "word: expected on or off", "an array"],
    [{ flag: "yes" }, "flag: expected true or false", '"yes"'],
    [{ size: "7" }, "size: expected a number", '"7"'],
    [{ size: 10 }, "size: expected at most 9", "10"],
    [{ size: 7 }, "is no good", ""],
    [{ time: "noon" }, "time: expected a time", '"noon"'],
    [{ time: 7 }, "time: expected a time", "7"],
    [{ time: "0:0" }, "time: is none of the day", '"0:0"'],
    [{ span: "1:2" }, "span: must be at most 9", '"1:2"'],
    [{ inner: { list: [1, "2"] } }, "inner.list[1]: expected a number", '"2"'],
    // What may be a secret is not shown, only of what kind it is, or how long.
    [{ inner: { list: "hunter2" } }, "inner.list: expected a list", "a string"],
    [{ inner: "hunter2" }, "inner: expected Object", "a string"],
    [{ text: 1234 }, "text: expected a string", "a number"],
    [{ text: { hunter2: 1 } }, "text: expected a string", "an object"],
    [{ text: "" }, "text: is empty; text: expected an a first", ""],
    [{ text: "hunter2" }, "text: expected an a first", ""],
    [{ text: "a hunter 2" }, "text: has more than 9 characters", "10"],
    [{ own: "hunter2" }, "own: is not the secret", ""],
    [{ own: ["hunter2"] }, "own: is not the secret", ""],
    [{ late: "hunter2" }, "late: comes too late", ""],
    // One without elements would pass for an object without fields.
    [{ inner: [] }, "inner: expected a JSON object", "an array"],
    [{ inner: ["hunter2"], word: "half" }, "inner: expected a JSON object", "an array"],
  ])("%j", (body, recorded, got) => {
    const { status, message, told } = refusal(() => decodeBody(whole, Buffer.from(JSON.stringify(body))));
    expect([status, message]).toEqual([400, `invalid request body: ${recorded}`]);
    expect(told).toBe(got === "" ? message : `${message} (got ${got})`);
  });

  it.each<readonly [body: string, recorded: string, told: string]>([
    ['{"hunter2":1}', "unknown field", "hunter2: unknown field"],
    ['{"inner":{"list":[],"hunter2":1}}', "inner: unknown field", "inner.hunter2: unknown field"],
    ['{"own":{"hunter2":"\\ud83d"}}', "own: has half of a character, ", "own.hunter2: has half of a character, "],
    ['{"hunter2":1,"hunter2":1}', "the key is given twice", 'the key "hunter2" is given twice'],
    ['{"\\u001b[31m":1}', "unknown field", "\\u001b[31m: unknown field"],
  ])("a name that no schema has is the caller's own, too: %s", (body, recorded, told) => {
    const error = refusal(() => decodeBody(whole, Buffer.from(body)));
    expect(error.message).toContain(`invalid request body: ${recorded}`);
    expect(error.message).not.toContain("hunter2");
    expect(error.told).toContain(`invalid request body: ${told}`);
  });

  it.each<readonly [query: string, recorded: string, told: string]>([
    ["?word=half", "word: expected on or off", 'word: expected on or off (got "half")'],
    ["?word=%1B", "word: expected on or off", String.raw`word: expected on or off (got "\u001b")`],
    ["?text=hunter2", "text: expected an a first", "text: expected an a first"],
    ["?hunter2", "unknown parameter", "hunter2: unknown parameter"],
    ["?hunter2=%", "a % has to begin ", "hunter2: a % has to begin "],
    ["?text=%", "text: a % has to begin ", "text: a % has to begin "],
  ])("and so with a query: %s", (query, recorded, told) => {
    const { entries } = schema;
    const error = refusal(() => decodeQuery(v.object({ word: entries.word, text: entries.text }), query));
    expect(error.message).toContain(`invalid query: ${recorded}`);
    expect(error.message).not.toMatch(/hunter2|half/);
    expect(error.told).toContain(`invalid query: ${told}`);
  });

  it("one line of many is told with it", () => {
    const read = decodeLine(Buffer.from('{"word":"half"}'), () => whole);
    expect(read).toEqual({ problem: 'word: expected on or off (got "half")' });
  });
});

test.each([
  ["x".repeat(64), `"${"x".repeat(64)}"`],
  ["x".repeat(65), `"${"x".repeat(64)}…"`],
  ["😀".repeat(65), `"${"😀".repeat(64)}…"`],
  ['a\n"b"\u001b\u007f\u0085\u202e', String.raw`"a\n\"b\"\u001b\u007f\u0085\u202e"`],
  ["cut \ud83d", String.raw`"cut \ud83d"`],
  [`${"x".repeat(63)}😀${"x".repeat(99)}`, `"${"x".repeat(63)}😀…"`],
  [-7.25, "-7.25"],
  [Infinity, "Infinity"],
  [true, "true"],
  [null, "null"],
])("a value is shown in one line that moves no cursor, and at most 64 characters of it: %j", (value, text) => {
  expect(shown(value)).toBe(text);
});
