import { expect, test } from "vitest";
import { mendMessage } from "../../src/route/mend-message.ts";

const WHAT = "the message is not what its source has to hand over: ";
const message = { id: "m", subject: "s", payload: new Uint8Array([1]) };

test.each<[string, unknown, string]>([
  ["null", null, "headers is no plain object of texts"],
  ["a text", "a=b", "headers is no plain object of texts"],
  ["a Map", new Map([["a", "b"]]), "headers is no plain object of texts"],
  [
    "what cannot be looked at",
    new Proxy(
      {},
      {
        has() {
          throw new Error("looked at");
        },
      },
    ),
    "headers cannot be read; headers is no plain object of texts",
  ],
])("of headers that are none nothing is kept, and what they are is said: %s", (_, headers, fault) => {
  const { message: mended, error } = mendMessage({ ...message, headers });
  expect(Object.keys(mended.headers ?? {})).toEqual([]);
  expect(error).toMatchObject({ code: "INVALID_PAYLOAD", message: WHAT + fault });
});

test("of more than 256 headers the first 256 are kept, and no other is looked at", () => {
  let looks = 0;
  const names = Array.from({ length: 300 }, (_, at) => `h${at}`);
  const headers = new Proxy(Object.fromEntries(names.map((name) => [name, name])), {
    get(target, name, receiver) {
      looks++;
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
  const { message: mended } = mendMessage({ ...message, payload: "no bytes", headers });
  expect(Object.keys(mended.headers ?? {})).toEqual(names.slice(0, 256));
  expect(looks).toBe(256);
});
