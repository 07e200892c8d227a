import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonFault } from "../src/json-fault.ts";

describe("a body that is no JSON", () => {
  it.each([
    ["", "the JSON is not complete: it ends at column 1"],
    ["{", "the JSON is not complete: it ends at column 2"],
    ['{"a": {"b": [1, 2]', "the JSON is not complete: it ends at column 19"],
    ["names", "is no JSON at column 1"],
    ["{names: 1}", "is no JSON at column 2"],
    ["{'names': 1}", "is no JSON at column 2"],
    ['{"a": 1,}', "is no JSON at column 9"],
    ['{"a": [1, 2,]}', "is no JSON at column 13"],
    ['{"a" 1}', "is no JSON at column 6"],
    ['{"a": 1 "b": 2}', "is no JSON at column 9"],
    ['{"a": [1, 2}', "is no JSON at column 12"],
    ['{"a": 01}', "is no JSON at column 8"],
    ['{"a": .5}', "is no JSON at column 7"],
    ['{"a": undefined}', "is no JSON at column 7"],
    ['{"a": "\\x41"}', "is no JSON at column 7"],
    ['{"a": "not closed}', "is no JSON at column 7"],
    ['{"a": 1} x', "is no JSON at column 10"],
    ['{"a": 1}, {}', "is no JSON at column 9"],
    ['{"a": 1}}', "is no JSON at column 9"],
    ["[]]", "is no JSON at column 3"],
    ["{]", "is no JSON at column 2"],
    ['{\n  "a": 1,\r\n  "b": nul\n}\n', "is no JSON at line 3, column 8"],
    ['{\n  "a": "two\nlines"\n}', "is no JSON at line 2, column 8"],
    ['{\n"a": 1\n', "the JSON is not complete: it ends at line 3, column 1"],
  ])("%j: %s", (text, words) => {
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
    expect(jsonFault(text)).toBe(words);
  });

  it("is at fault behind what is JSON, whatever that holds", () => {
    const values = fc.jsonValue({ maxDepth: 4, stringUnit: "binary" });
    fc.assert(
      fc.property(values, fc.constantFrom(0, 2), (value, indent) => {
        const whole = JSON.stringify(value, undefined, indent);
        const column = whole.length - whole.lastIndexOf("\n");
        expect(jsonFault(`${whole}}`)).toMatch(new RegExp(`^is no JSON at .*column ${column}$`));
        const open = `[${whole}`;
        const end = open.length - open.lastIndexOf("\n");
        expect(jsonFault(open)).toMatch(new RegExp(`^the JSON is not complete: it ends at .*column ${end}$`));
      }),
    );
  });

  it.each(["\u007f\u0080\u009f\u2028", "\\u001f\\n"])("is none in the text %j", (text) => {
    expect(JSON.parse(`"${text}"`)).toBeTypeOf("string");
    expect(jsonFault(`"${text}" x`)).toBe(`is no JSON at column ${text.length + 4}`);
  });

  it("is found in a large body", () => {
    const long = "x".repeat(500_000);
    for (const text of [`["${long}`, `["${"\\n".repeat(250_000)}`, "[".repeat(1_000_000), `[${"1,".repeat(500_000)}`])
      expect(jsonFault(text)).toContain("column");
  });
});
