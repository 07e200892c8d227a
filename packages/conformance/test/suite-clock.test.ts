import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { SuiteClock } from "../src/index.ts";

const { signal } = new AbortController();

test("timers fire at their times, in order, as time passes", async () => {
  const clock = new SuiteClock(5_000);
  const fired: string[] = [];
  const at = (name: string): void => void fired.push(`${name} ${clock.now()}`);
  void clock.delay(250, signal).then(() => at("delay"));
  clock.every(100, () => at("tick"));
  await clock.pass(99);
  expect(fired).toEqual([]);
  await clock.pass(201);
  expect(fired).toEqual(["tick 5100", "tick 5200", "delay 5250", "tick 5300"]);
});

test("a disposed timer fires no more", async () => {
  const clock = new SuiteClock(0);
  let ticks = 0;
  const timer = clock.every(10, () => {
    if (++ticks === 2) timer[Symbol.dispose]();
  });
  await clock.pass(100);
  expect(ticks).toBe(2);
});

test("a delay that is aborted rejects with the reason and leaves nothing behind", async () => {
  const clock = new SuiteClock(0);
  const controller = new AbortController();
  const reason = new Error("given up");
  const delay = clock.delay(10, controller.signal);
  controller.abort(reason);
  await expect(delay).rejects.toBe(reason);
  expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  await expect(clock.delay(10, controller.signal)).rejects.toBe(reason);
});

test("setting the time of day lets no time pass", async () => {
  const clock = new SuiteClock(5_000);
  const monotonic = clock.monotonic();
  let ticks = 0;
  clock.every(10, () => ticks++);
  clock.jump(-4_000);
  expect([clock.now(), clock.monotonic(), ticks]).toEqual([1_000, monotonic, 0]);
  await clock.pass(10);
  expect([clock.now(), clock.monotonic(), ticks]).toEqual([1_010, monotonic + 10, 1]);
});

test("two who let time pass at once do not turn it back", async () => {
  const clock = new SuiteClock(0);
  clock.every(10, () => {});
  const times: number[] = [];
  await Promise.all([clock.pass(100), clock.pass(50).then(() => times.push(clock.now()))]);
  times.push(clock.now());
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(clock.now()).toBeGreaterThanOrEqual(100);
});
