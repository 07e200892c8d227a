import { getEventListeners } from "node:events";
import { type Logger, silentLogger } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { Slots } from "../../src/route/slots.ts";
import { StoreCalls } from "../../src/route/store-calls.ts";
import { Strays, straysOf } from "../../src/route/strays.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";

const never = new AbortController().signal;
const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;

/** Whether `waiting` has ended by now. */
async function hasEnded(waiting: Promise<unknown>): Promise<boolean> {
  let ended = false;
  waiting.then(
    () => (ended = true),
    () => (ended = true),
  );
  await turn();
  return ended;
}

describe("who waits for a slot", () => {
  test("leaves no listener at its signal, whether it gets one or gives up", async () => {
    const slots = new Slots(1);
    const [served, gaveUp] = [new AbortController(), new AbortController()];
    await slots.take(never);
    const first = slots.take(served.signal);
    const second = slots.take(gaveUp.signal);
    const third = slots.room(served.signal);
    gaveUp.abort(new Error("enough"));
    await expect(second).rejects.toThrow("enough");
    slots.release();
    await first;
    slots.release();
    await third;
    expect([listenersOf(served.signal), listenersOf(gaveUp.signal), slots.taken]).toEqual([0, 0, 0]);
  });

  test("is counted: what others wait for is not free", async () => {
    const slots = new Slots(3);
    expect([slots.free, slots.hasRoom]).toEqual([3, true]);
    slots.tryTake();
    expect([slots.free, slots.hasRoom]).toEqual([2, true]);
    slots.tryTake();
    slots.tryTake();
    expect([slots.free, slots.hasRoom]).toEqual([0, false]);
    const stop = new AbortController();
    const waiter = slots.take(stop.signal);
    expect(slots.free).toBe(0);
    stop.abort(new Error("enough"));
    await expect(waiter).rejects.toThrow("enough");
    slots.release();
    expect([slots.free, slots.hasRoom]).toEqual([1, true]);
  });

  test("room that somebody else took first is waited for again", async () => {
    const slots = new Slots(1);
    slots.tryTake();
    const room = slots.room(never);
    slots.release();
    slots.tryTake();
    expect(await hasEnded(room)).toBe(false);
    slots.release();
    expect(await hasEnded(room)).toBe(true);
    const stopped = AbortSignal.abort(new Error("over"));
    await expect(slots.room(stopped)).rejects.toThrow("over");
    slots.tryTake();
    await expect(slots.room(stopped)).rejects.toThrow("over");
  });

  test("idle is when the last slot has been given back", async () => {
    const slots = new Slots(3);
    await slots.idle();
    slots.tryTake();
    slots.tryTake();
    const idle = slots.idle();
    slots.release();
    expect(await hasEnded(idle)).toBe(false);
    slots.release();
    expect(await hasEnded(idle)).toBe(true);
  });
});

describe("calls of a store that are waited for", () => {
  test("the oldest that is open says how long; none that has ended, whichever way", async () => {
    const clock = new FakeClock();
    const calls = new StoreCalls(clock);
    const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
    expect(calls.oldestMs).toBe(0);
    const one = calls.during(first.promise);
    await clock.advance(1_000);
    const two = calls.during(second.promise);
    await clock.advance(500);
    expect(calls.oldestMs).toBe(1_500);
    first.reject(new Error("away"));
    await expect(one).rejects.toThrow("away");
    expect(calls.oldestMs).toBe(500);
    second.resolve("found");
    expect(await two).toBe("found");
    expect(calls.oldestMs).toBe(0);
  });
});

describe("calls that were given up and do not end", () => {
  const MOST = 100;

  function full() {
    const clock = new FakeClock();
    const strays = new Strays(clock);
    for (let i = 0; i < MOST; i++) strays.add();
    const told: string[] = [];
    const logger: Logger = { ...silentLogger, error: (message) => void told.push(message) };
    return { clock, strays, told, logger };
  }

  test("a hundred are too many, and ten seconds of that look as if they never end", async () => {
    const { clock, strays } = full();
    strays.ended();
    expect([strays.full, strays.stuck]).toEqual([false, false]);
    await clock.advance(60_000);
    expect([strays.full, strays.stuck]).toEqual([false, false]);
    strays.add();
    expect([strays.full, strays.stuck]).toEqual([true, false]);
    await clock.advance(9_999);
    strays.add();
    expect(strays.stuck).toBe(false);
    await clock.advance(1);
    expect(strays.stuck).toBe(true);
    strays.ended();
    expect([strays.full, strays.stuck]).toEqual([true, true]);
    strays.ended();
    expect([strays.full, strays.stuck]).toEqual([false, false]);
  });

  test("who waits goes on when there is room, or its signal aborts; nothing ticks on", async () => {
    const { clock, strays, logger } = full();
    strays.add();
    const stop = new AbortController();
    const [one, other] = [strays.whenRoom("sender s", logger, never), strays.whenRoom("sender s", logger, stop.signal)];
    expect(await hasEnded(one)).toBe(false);
    stop.abort(new Error("the route stops"));
    expect([await hasEnded(one), await hasEnded(other)]).toEqual([false, true]);
    strays.ended();
    expect(await hasEnded(one)).toBe(false);
    strays.ended();
    expect([await hasEnded(one), clock.pending]).toEqual([true, 0]);
  });

  test("it is told once each time that it takes long, however many wait", async () => {
    const { clock, strays, told, logger } = full();
    for (let times = 1; times <= 2; times++) {
      const waiting = [1, 2, 3].map(() => strays.whenRoom("sender s", logger, never));
      await clock.advance(9_999);
      expect(told).toHaveLength(times - 1);
      await clock.advance(60_000);
      expect(told).toHaveLength(times);
      strays.ended();
      await Promise.all(waiting);
      strays.add();
    }
    expect(new Set(told)).toEqual(new Set(["the route stands still: calls that were given up do not end"]));
  });

  test("those of one part are one, whoever asks", () => {
    const clock = new FakeClock();
    const [sender, other] = [{}, {}];
    expect(straysOf(sender, clock)).toBe(straysOf(sender, new FakeClock()));
    expect(straysOf(sender, clock)).not.toBe(straysOf(other, clock));
  });
});
