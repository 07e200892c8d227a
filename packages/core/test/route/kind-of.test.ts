import { expect, test } from "vitest";
import { kindOf } from "../../src/route/kind-of.ts";

const givenAway = new Uint8Array(1);
structuredClone(givenAway.buffer, { transfer: [givenAway.buffer] });

test.each<[string, unknown]>([
  ["null", null],
  ["missing", undefined],
  ["a proxy", new Proxy({}, {})],
  ["an ArrayBuffer", new ArrayBuffer(1)],
  ["an ArrayBuffer", new SharedArrayBuffer(1)],
  ["a Uint8Array whose memory was given away", givenAway],
  ["a view of another kind", new Uint16Array(1)],
  ["a Date", new Date(0)],
  ["an object", {}],
  ["a string", "text"],
])("%s is named as what it is", (kind, value) => {
  expect(kindOf(value)).toBe(kind);
});
