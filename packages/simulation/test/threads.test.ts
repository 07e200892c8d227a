import process from "node:process";
import type { Worker } from "node:worker_threads";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runSeed } from "../src/index.ts";
import { inThreads } from "../src/threads/in-threads.ts";

let [begun, ended] = [0, 0];
const watch = (worker: Worker): void => {
  begun++;
  worker.once("exit", () => ended++);
};
beforeEach(() => {
  [begun, ended] = [0, 0];
  process.on("worker", watch);
});
afterEach(() => void process.off("worker", watch));

test("seeds that run in threads are the same runs in the same order, and each thread ends", async () => {
  const seeds = [5, 3, 4];
  const told = [];
  for await (const each of inThreads(seeds, { save: undefined, seedsOfAThread: 2 })) {
    told.push(each);
    expect(begun - ended).toBe(told.length === 2 ? 0 : 1);
  }
  const here = [];
  for (const seed of seeds) {
    const { digest, plan, instances, virtualMs } = await runSeed(seed);
    const { messages, faults } = plan;
    const text = `seed ${seed} ok ${digest}\n`;
    here.push({ text, isViolated: false, messages: messages.length, faults: faults.length, instances, virtualMs });
  }
  expect(told).toEqual(here);
  expect([begun, ended]).toEqual([2, 2]);
});

test("a thread ends with whoever asks for no more, and no seed is asked for before its turn", async () => {
  const asked: number[] = [];
  const seeds = (function* () {
    for (let seed = 3; ; seed++) {
      asked.push(seed);
      yield seed;
    }
  })();
  for await (const { text } of inThreads(seeds, { save: undefined })) {
    expect(text).toMatch(/^seed 3 ok /);
    break;
  }
  expect([asked, begun, ended]).toEqual([[3], 1, 1]);
});

test("a seed that ends its thread is an error that names it", async () => {
  process.once("worker", (worker) => void worker.terminate());
  await expect(inThreads([3, 4], { save: undefined }).next()).rejects.toThrow(
    "seed 3 has ended the thread that ran it",
  );
});
