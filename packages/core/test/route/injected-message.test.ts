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

test("a message has an empty subject and the content type of its payload unless others are given", () => {
  expect(sourceMessageOf({ payload: "hello" })).toEqual({ subject: "", payload: new TextEncoder().encode("hello") });
  const payload = new TextEncoder().encode("[1]");
  const own = { subject: "s", contentType: "application/vnd.own+json", id: "m1" };
  expect(sourceMessageOf({ payload: [1] })).toEqual({ subject: "", payload, contentType: "application/json" });
  expect(sourceMessageOf({ ...own, payload: [1] })).toEqual({ ...own, payload });
});
