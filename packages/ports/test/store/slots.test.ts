import assert from "node:assert/strict";
import { expect, test } from "vitest";
import { Slots } from "../../src/store/slots.ts";

const { signal } = new AbortController();
const reason = new Error("given up");

test("so many are let through at a time, the others in the order of asking", async () => {
  const slots = new Slots(2);
  const order: number[] = [];
  const turns = await Promise.all([slots.take(signal), slots.take(signal)]);
  const waiting = [1, 2, 3].map(async (number) => {
    using _ = await slots.take(signal);
    order.push(number);
  });
  expect(order).toEqual([]);
  turns[0][Symbol.dispose]();
  await Promise.all(waiting);
  expect(order).toEqual([1, 2, 3]);
});

test("who goes first does so among those who wait, and takes nobody's turn away", async () => {
  const slots = new Slots(1);
  const order: string[] = [];
  const turn = await slots.take(signal);
  const caller = new AbortController();
  const given = slots.take(caller.signal, true);
  const waiting = (["a", "b", "C", "D"] as const).map(async (name) => {
    using _ = await slots.take(signal, name < "a");
    order.push(name);
  });
  caller.abort(reason);
  await assert.rejects(given, (error) => error === reason);
  turn[Symbol.dispose]();
  await Promise.all(waiting);
  expect(order).toEqual(["C", "D", "a", "b"]);
  expect(await slots.take(signal)).toBeDefined();
});

test("who gives up waiting is passed over", async () => {
  const slots = new Slots(1);
  const first = await slots.take(signal);
  const caller = new AbortController();
  const second = slots.take(caller.signal);
  const third = slots.take(signal);
  caller.abort(reason);
  await assert.rejects(second, (error) => error === reason);
  first[Symbol.dispose]();
  expect(await third).toBeDefined();
});

test("a turn that comes in the moment in which its caller gives up is not lost", async () => {
  const slots = new Slots(1);
  const first = await slots.take(signal);
  const caller = new AbortController();
  const second = slots.take(caller.signal);
  caller.abort(reason);
  first[Symbol.dispose]();
  await assert.rejects(second, (error) => error === reason);
  expect(await slots.take(signal)).toBeDefined();
});

test("who has given up already takes nothing", async () => {
  const slots = new Slots(1);
  await assert.rejects(slots.take(AbortSignal.abort(reason)), (error) => error === reason);
  expect(await slots.take(signal)).toBeDefined();
});
