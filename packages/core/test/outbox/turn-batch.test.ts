import { setImmediate as turn } from "node:timers/promises";
import { BridgeError, systemClock } from "@bridge/ports";
import { expect, test } from "vitest";
import { TurnBatch } from "../../src/outbox/turn-batch.ts";

const MIB = 1024 * 1024;

function batch() {
  const calls: (readonly number[])[] = [];
  const run = async (items: readonly number[]): Promise<readonly string[]> => {
    calls.push(items);
    return items.map((item) => `result ${item}`);
  };
  const batched = new TurnBatch(systemClock, run, (bytes) => bytes);
  const add = async (...items: readonly number[]): Promise<readonly string[]> => {
    const { results, first } = batched.add(items);
    return (await results).slice(first, first + items.length);
  };
  return { calls, add };
}

test("what is added in one turn goes in one call, and each finds its own results", async () => {
  const { calls, add } = batch();
  expect(await Promise.all([add(1, 2), add(3)])).toEqual([["result 1", "result 2"], ["result 3"]]);
  await turn();
  expect(await add(4)).toEqual(["result 4"]);
  expect(calls).toEqual([[1, 2, 3], [4]]);
});

test("a call is bounded in items and in bytes, and what is added together stays together", async () => {
  const { calls, add } = batch();
  await Promise.all([add(5 * MIB), add(3 * MIB), add(1), add(20 * MIB, 20 * MIB), add(2)]);
  expect(calls).toEqual([[5 * MIB, 3 * MIB], [1], [20 * MIB, 20 * MIB], [2]]);
  calls.length = 0;
  await Promise.all(Array.from({ length: 2_500 }, () => add(1)));
  expect(calls.map((items) => items.length)).toEqual([1_000, 1_000, 500]);
});

test("a call that fails, or answers for fewer than it was asked for, is told to all of it and to nobody else", async () => {
  const run = async (items: readonly number[]): Promise<readonly number[]> => {
    if (items.includes(0)) throw new Error("refused");
    return items.includes(-1) ? items.slice(1) : items;
  };
  const batched = new TurnBatch(systemClock, run);
  const [one, other] = [batched.add([1, 0]), batched.add([2])];
  await expect(one.results).rejects.toThrow("refused");
  await expect(other.results).rejects.toThrow("refused");
  await turn();
  await expect(batched.add([3, -1]).results).rejects.toThrow("the store gave fewer results than it was asked for");
  expect(await batched.add([4]).results).toEqual([4]);
});

test("after a call that was late less goes in one, until each item goes alone", async () => {
  const calls: number[] = [];
  const batched = new TurnBatch(
    systemClock,
    async (items: readonly number[]) => {
      calls.push(items.length);
      if (items.length > 1) throw new BridgeError("TIMEOUT", "no answer in time");
      return items;
    },
    () => MIB / 4,
  );
  let open = 32;
  while (open > 0) {
    const turnOf = Array.from({ length: open }, () => batched.add([1]).results);
    open = (await Promise.allSettled(turnOf)).filter(({ status }) => status === "rejected").length;
  }
  expect(calls.slice(0, 7)).toEqual([32, 16, 16, 8, 8, 8, 8]);
  expect(calls.filter((length) => length === 1)).toHaveLength(32);
});

test("a store that was late and is in time again gets as much in one call as before", async () => {
  const calls: number[] = [];
  let late = true;
  const batched = new TurnBatch(
    systemClock,
    async (items: readonly number[]) => {
      calls.push(items.length);
      if (late) throw new BridgeError("TIMEOUT", "no answer in time");
      return items;
    },
    () => MIB / 4,
  );
  const add = () => Promise.allSettled(Array.from({ length: 32 }, () => batched.add([1]).results));
  await add();
  late = false;
  await add();
  expect(calls).toEqual([32, 16, 16]);
  for (let times = 0; times < 10; times++) await add();
  expect(calls.at(-1)).toBe(32);
});

test("a call that goes takes nothing away from the one that fills after it", async () => {
  const turns: (() => void)[] = [];
  const calls: number[] = [];
  const run = async (items: readonly number[]): Promise<readonly number[]> => {
    calls.push(items.length);
    return items;
  };
  const batched = new TurnBatch({ turn: (then) => void turns.push(then) }, run);
  const full = batched.add(Array.from({ length: 1_000 }, () => 1)).results;
  const one = batched.add([1]);
  turns.shift()?.();
  const next = batched.add([2]);
  turns.shift()?.();
  await Promise.all([full, one.results, next.results]);
  expect(calls).toEqual([1_000, 2]);
  expect([one.first, next.first]).toEqual([0, 1]);
});
