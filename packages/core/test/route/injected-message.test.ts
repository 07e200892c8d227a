import { expect, test } from "vitest";
import { type InjectedMessage, sourceMessageOf } from "../../src/route/injected-message.ts";

test.each<[string, unknown]>([
  ["null", null],
  ["a string", "hello"],
  ["missing", undefined],
])("what is no message is named with what to give instead: %s", (kind, message) => {
  expect(() => sourceMessageOf(message as InjectedMessage)).toThrow(
    new TypeError(`message is ${kind}: give it an object, such as { payload: "hello" }`),
  );
});
