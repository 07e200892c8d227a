import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CodePayload, encodePayload } from "../src/index.ts";

const decode = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
const encode = (value: unknown) => encodePayload(value as CodePayload);

describe("a payload from code", () => {
  test("of text is its UTF-8, of bytes the bytes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.uint8Array(), (text, bytes) => {
        const encoded = encodePayload(text);
        expect(decode(encoded.payload)).toBe(text);
        expect(encoded.contentType).toBeUndefined();
        expect(encodePayload(bytes)).toEqual({ payload: bytes });
      }),
    );
  });

  test("of any other JSON value is its JSON, with the content type", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 2 }), (value) => {
        fc.pre(typeof value !== "string");
        const { payload, contentType } = encode(value);
        expect(decode(payload)).toBe(JSON.stringify(value));
        expect(contentType).toBe("application/json");
      }),
    );
  });

  test("leaves out properties that are undefined", () => {
    expect(decode(encodePayload({ a: 1, b: undefined }).payload)).toBe('{"a":1}');
  });

  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  let deep: object = {};
  for (let i = 0; i <= 100; i++) deep = { within: deep };
  const detached = new Uint8Array(3);
  structuredClone(detached.buffer, { transfer: [detached.buffer] });
  class Order {
    id = 1;
  }

  test.each([
    ["undefined", undefined, "payload is undefined: give it text, bytes (a Uint8Array) or a JSON value"],
    ["a BigInt", 1n, "payload is a bigint: "],
    ["a function", () => {}, "payload is a function: "],
    ["a symbol", Symbol("x"), "payload is a symbol: "],
    ["an ArrayBuffer", new ArrayBuffer(3), "payload is an object of ArrayBuffer: "],
    ["a DataView", new DataView(new ArrayBuffer(3)), "payload is an object of DataView: "],
    ["other numbers than bytes", new Uint16Array(3), "payload is an object of Uint16Array: "],
    ["bytes that were given away", detached, "payload has given its memory away: hand over a copy"],
    ["a date", new Date(0), "payload is an object of Date: "],
    ["a map within", { at: { m: new Map() } }, "payload.at.m is an object of Map: "],
    ["an object of a class", [new Order()], "payload[0] is an object of Order: "],
    ["a promise", Promise.resolve(1), "payload is an object of Promise: "],
    ["nothing in a list", [1, undefined], "payload[1] is undefined: "],
    ["no number", { n: Number.NaN }, "payload.n is NaN, which JSON cannot say"],
    ["what holds itself", circle, "payload.self is what it stands in, which JSON cannot say: leave it out"],
    ["what holds itself far in", { a: [circle] }, "payload.a[0].self is what it stands in"],
    ["nested too deep", deep, /^payload(?:\.within){13}\.\w*… is nested more than 100 levels deep$/],
    [
      "what throws when its JSON is asked for",
      {
        at: {
          toJSON() {
            throw new Error("s3cret");
          },
        },
      },
      "payload.at has a toJSON: give it what that returns, or leave it out",
    ],
    [
      "what throws when it is read",
      {
        get at() {
          throw new Error("no");
        },
      },
      "payload cannot be read: ",
    ],
    ["what says its own JSON", { toJSON: () => 1 }, "payload has a toJSON: give it what that returns"],
  ])("that is %s is refused, with its field", (_, value, message) => {
    expect(() => encode(value)).toThrow(TypeError);
    expect(() => encode(value)).toThrow(message);
  });

  test("is named as its caller calls it", () => {
    expect(() => encodePayload(undefined as never, "body")).toThrow("body is undefined: ");
  });
});
