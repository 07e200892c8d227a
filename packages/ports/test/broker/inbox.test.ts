import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { Inbox } from "../../src/broker/inbox.ts";

test("hands out what waits in its order, and says so", async () => {
  const taken: string[] = [];
  const inbox = new Inbox<string>((item) => taken.push(item));
  expect([inbox.push("a"), inbox.push("b"), inbox.size]).toEqual([true, true, 2]);
  const items = inbox.receive(new AbortController().signal)[Symbol.asyncIterator]();
  expect([await items.next(), await items.next()]).toEqual([
    { done: false, value: "a" },
    { done: false, value: "b" },
  ]);
  expect(taken).toEqual(["a", "b"]);
});

test("hands over at once what is waited for: that has not waited", async () => {
  const taken: string[] = [];
  const inbox = new Inbox<string>((item) => taken.push(item));
  const items = inbox.receive(new AbortController().signal)[Symbol.asyncIterator]();
  const next = items.next();
  expect(inbox.push("a")).toBe(false);
  expect(await next).toEqual({ done: false, value: "a" });
  expect(taken).toEqual([]);
});

test("an iteration ends with its signal, and what waits stays for the next", async () => {
  const inbox = new Inbox<string>();
  const first = new AbortController();
  const items = inbox.receive(first.signal)[Symbol.asyncIterator]();
  const next = items.next();
  first.abort();
  expect(await next).toEqual({ done: true, value: undefined });
  inbox.push("a");
  expect(await items.next()).toEqual({ done: true, value: undefined });
  expect(getEventListeners(first.signal, "abort")).toEqual([]);
  const again = inbox.receive(new AbortController().signal)[Symbol.asyncIterator]();
  expect(await again.next()).toEqual({ done: false, value: "a" });
});

test("disposing ends an iteration; a loop that is left leaves no listener", async () => {
  const inbox = new Inbox<string>();
  inbox.push("a");
  const { signal } = new AbortController();
  for await (const item of inbox.receive(signal)) {
    expect(item).toBe("a");
    break;
  }
  expect(getEventListeners(signal, "abort")).toEqual([]);
  const waiting = inbox.receive(signal)[Symbol.asyncIterator]().next();
  inbox[Symbol.dispose]();
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(await inbox.receive(signal)[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined });
});

test("what is taken out is not handed out", async () => {
  const inbox = new Inbox<number>();
  for (const item of [1, 2, 3, 4]) inbox.push(item);
  expect(inbox.remove((item) => item % 2 === 0)).toEqual([2, 4]);
  expect(inbox.size).toBe(2);
});
