import { expect, test } from "vitest";
import { source } from "../src/index.ts";
import { ACCEPT, iterate, next, parts } from "./support/parts.ts";

/** What a route gets of one thing that a source yields. */
async function received(item: unknown) {
  const once = async function* () {
    yield item as never;
  };
  const { message, undecodable } = await next(iterate(parts({ sources: { ticks: source(once) } }).receiver("ticks")));
  return { message, undecodable, text: Buffer.from(message.payload).toString() };
}

test.each([
  ["text", "text", undefined],
  ["", "", undefined],
  [Buffer.from("bytes"), "bytes", undefined],
  [new Uint8Array([97]), "a", undefined],
  [{ id: 5, at: undefined }, '{"id":5}', "application/json"],
  [[1, "two", null], '[1,"two",null]', "application/json"],
  [Object.create(null), "{}", "application/json"],
  [5, "5", "application/json"],
  [true, "true", "application/json"],
  [null, "null", "application/json"],
])("a payload is text, bytes or a JSON value: %o", async (payload: unknown, text, contentType) => {
  const { message, undecodable, text: arrived } = await received({ payload });
  expect(undecodable).toBeUndefined();
  expect(arrived).toBe(text);
  expect(message.contentType).toBe(contentType);
});

test.each([
  [undefined, "payload is undefined: give it text, bytes (a Uint8Array) or a JSON value", ""],
  [5n, "payload is a bigint: give it", "5"],
  [() => {}, "payload is a function: give it", ""],
  [Symbol("s"), "payload is a symbol: give it", ""],
  [Uint8Array.of(97).buffer, "payload is an object of ArrayBuffer: give it", "a"],
  [new Uint16Array([0x6261]), "payload is an object of Uint16Array: give it", "ab"],
  [new DataView(Uint8Array.of(97).buffer), "payload is an object of DataView: give it", "a"],
  [new Map([["a", 1]]), "payload is an object of Map: give it", ""],
  [Promise.resolve("late"), "payload is an object of Promise: give it", ""],
  [new Date(0), "payload is an object of Date: give it", ""],
  [Number.NaN, "payload is NaN, which JSON cannot say", "NaN"],
  [{ total: 5n }, "payload.total is a bigint: give it", ""],
  ["a\ud83d", "payload has half a character (a lone surrogate), which UTF-8 cannot say", "a\ufffd"],
])("a payload of another kind is INVALID_PAYLOAD, with what is left of it: %o", async (payload, fault, left) => {
  const { undecodable, text } = await received({ payload });
  expect(undecodable).toMatchObject({ code: "INVALID_PAYLOAD" });
  expect(undecodable?.message).toContain(`what source "ticks" yielded is no message: ${fault}`);
  expect(undecodable?.cause).toBeInstanceOf(TypeError);
  expect(text).toBe(left);
});

const thrower = (): never => {
  throw new Error("looked at");
};

test.each([
  [undefined, "it is undefined, not an object with a payload"],
  [null, "it is null, not"],
  [5, "it is a number, not"],
  ["text", "it is a string, not"],
  [Buffer.from("b"), "it is a Uint8Array, not"],
  [[{ payload: "a" }], "it is an array, not"],
  [{}, "payload is undefined"],
  [{ payload: "a", id: 5 }, "id is a number, not a text"],
  [{ payload: "a", subject: null }, "subject is null, not a text"],
  [{ payload: "a", key: {} }, "key is an object, not a text"],
  [
    { payload: "a", contentType: [], correlationId: 5, dedupId: true },
    "contentType is an array, not a text; correlationId is a number, not a text; dedupId is a boolean, not a text",
  ],
  [{ payload: "a", headers: new Map() }, "headers are a Map, not an object of texts"],
  [
    { payload: "a", headers: { a: "1", b: 5, c: null } },
    'header "b" is a number, not a text; header "c" is null, not a text',
  ],
  [{ payload: "a", headers: "x" }, "headers are a string, not an object of texts"],
  [{ payload: "a", expiresAt: "soon" }, "expiresAt is a string, not a time in epoch milliseconds"],
  [{ payload: "a", expiresAt: Number.NaN }, "expiresAt is NaN, not a time"],
  [{ payload: "a", settled: true }, "settled is a boolean, not a function"],
  [
    {
      get payload() {
        return thrower();
      },
    },
    "payload cannot be read: looked at",
  ],
  [
    {
      payload: "a",
      get id() {
        return thrower();
      },
    },
    "id cannot be read: looked at",
  ],
  [
    { payload: "a", headers: new Proxy({}, { ownKeys: thrower, has: () => false }) },
    "headers cannot be read: looked at",
  ],
  [new Proxy({}, { get: thrower, has: thrower, getPrototypeOf: thrower }), "id cannot be read: looked at"],
])("what is no message is INVALID_PAYLOAD and named, and the source goes on: %#", hurtsItselfOnly);

// The runner's own formatting of a row would look at it.
test.each(["item", "payload", "nested", "headers", "id"])(
  "a proxy that was revoked hurts its message only: %s",
  async (place) => {
    expect.assertions(3);
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const rows: Readonly<Record<string, readonly [unknown, string]>> = {
      item: [proxy, "it is an object that cannot be read, not an object with a payload"],
      payload: [{ payload: proxy }, "payload cannot be read"],
      nested: [{ payload: { nested: proxy } }, "payload cannot be read"],
      headers: [{ payload: "a", headers: proxy }, "headers cannot be read"],
      id: [{ payload: "a", id: proxy }, "id is an object that cannot be read, not a text"],
    };
    const [item, fault] = rows[place] ?? [];
    await hurtsItselfOnly(item, fault ?? "");
  },
);

async function hurtsItselfOnly(item: unknown, fault: string): Promise<void> {
  // A generator would look at it before anybody else.
  const items = [item, { payload: "after" }];
  const yielding = {
    [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false, value: items.shift() as never }) }),
  };
  const iterator = iterate(parts({ sources: { ticks: source(yielding) } }).receiver("ticks"));
  const delivery = await next(iterator);
  expect(delivery.undecodable).toMatchObject({ code: "INVALID_PAYLOAD" });
  expect(delivery.undecodable?.message).toContain(fault);
  await delivery.settle({ ...ACCEPT, outcome: "dead_lettered" });
  expect(Buffer.from((await next(iterator)).message.payload).toString()).toBe("after");
}

test("a message carries what it was yielded with, its own copy of it", async () => {
  const item = {
    id: "m1",
    subject: "s",
    payload: Buffer.from("bytes"),
    headers: { plain: "1" },
    key: "k",
    contentType: "text/plain",
    correlationId: "c",
    dedupId: "d",
    expiresAt: 9,
  };
  const { message } = await received(item);
  item.payload.fill(0);
  item.headers.plain = "2";
  expect(message).toEqual({
    id: "m1",
    subject: "s",
    payload: Buffer.from("bytes"),
    headers: { plain: "1" },
    orderingKey: "k",
    contentType: "text/plain",
    correlationId: "c",
    dedupId: "d",
    expiresAt: 9,
  });
});

test("the subject is the name of the source, unless the message has one", async () => {
  expect((await received({ payload: "a" })).message.subject).toBe("ticks");
  expect((await received(undefined)).message.subject).toBe("ticks");
});
