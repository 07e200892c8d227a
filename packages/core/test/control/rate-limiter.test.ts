import { assert, asyncProperty, array, constantFrom, integer, record } from "fast-check";
import { describe, expect, test } from "vitest";
import { RateLimiter } from "../../src/control/rate-limiter.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";

const never = new AbortController().signal;

/** Asks for `count` messages and notes when each may go. */
function ask(limiter: RateLimiter, clock: FakeClock, count: number, signal = never): number[] {
  const times: number[] = [];
  for (let index = 0; index < count; index++) {
    const wait = limiter.take(signal);
    if (wait === undefined) times.push(clock.monotonic());
    else
      wait.then(
        () => times.push(clock.monotonic()),
        () => {},
      );
  }
  return times;
}

describe("a rate limit", () => {
  test("without one everything goes at once", () => {
    const clock = new FakeClock();
    const limiter = new RateLimiter(clock);
    expect(ask(limiter, clock, 1_000)).toHaveLength(1_000);
    expect(limiter.within(1_000)).toBe(Number.POSITIVE_INFINITY);
    expect(clock.pending).toBe(0);
  });

  test("leave that is given back is the next one's at once, and no more than that", async () => {
    const clock = new FakeClock();
    const start = clock.monotonic();
    const limiter = new RateLimiter(clock, { messagesPerSecond: 10, burst: 1 });
    const times = ask(limiter, clock, 3);
    await clock.advance(20);
    limiter.giveBack();
    await clock.advance(500);
    // Timers are no finer than 10 ms.
    expect(times.map((time) => time - start)).toEqual([0, 20, 110]);
    limiter.limit = undefined;
    limiter.giveBack();
    expect(ask(limiter, clock, 1)).toHaveLength(1);
  });

  test("lets a burst go at once, and the rest at the rate, in order", async () => {
    const clock = new FakeClock();
    const start = clock.monotonic();
    const limiter = new RateLimiter(clock, { messagesPerSecond: 10, burst: 3 });
    const times = ask(limiter, clock, 6);
    await clock.advance(1_000);
    expect(times.map((time) => time - start)).toEqual([0, 0, 0, 100, 200, 300]);
    expect(clock.pending).toBe(0);
  });

  test("a rest fills the burst again, and no more than that", async () => {
    const clock = new FakeClock();
    const limiter = new RateLimiter(clock, { messagesPerSecond: 10, burst: 3 });
    ask(limiter, clock, 3);
    await clock.advance(60_000);
    expect(ask(limiter, clock, 4)).toHaveLength(3);
  });

  test("a raised limit applies to those who wait already, and so does none at all", async () => {
    const clock = new FakeClock();
    const limiter = new RateLimiter(clock, { messagesPerSecond: 0.001, burst: 1 });
    const times = ask(limiter, clock, 4);
    await clock.advance(1_000);
    expect(times).toHaveLength(1);
    limiter.limit = { messagesPerSecond: 1, burst: 1 };
    await clock.advance(1_000);
    expect(times).toHaveLength(3);
    limiter.limit = undefined;
    await clock.advance(0);
    expect(times).toHaveLength(4);
  });

  test("who gives up leaves the queue, and takes nobody's turn", async () => {
    const clock = new FakeClock();
    const limiter = new RateLimiter(clock, { messagesPerSecond: 10, burst: 1 });
    ask(limiter, clock, 1);
    const gone = new AbortController();
    const given = ask(limiter, clock, 2, gone.signal);
    const times = ask(limiter, clock, 1);
    gone.abort();
    await clock.advance(100);
    expect(given).toEqual([]);
    expect(times).toHaveLength(1);
    const last = limiter.take(gone.signal);
    await expect(last).rejects.toBe(gone.signal.reason);
    await turn();
    expect(clock.pending).toBe(0);
  });

  test("in any stretch of time no more go than its rate and one burst allow", async () => {
    await assert(
      asyncProperty(
        record({ messagesPerSecond: constantFrom(0.5, 3, 40, 999, 20_000), burst: integer({ min: 1, max: 50 }) }),
        array(record({ count: integer({ min: 1, max: 20 }), rest: integer({ min: 0, max: 2_000 }) }), { maxLength: 5 }),
        async (limit, steps) => {
          const clock = new FakeClock();
          const limiter = new RateLimiter(clock, limit);
          const times: number[][] = [];
          for (const { count, rest } of steps) {
            times.push(ask(limiter, clock, count));
            await clock.advance(rest);
          }
          const all = times.flat().toSorted((a, b) => a - b);
          const burst = Math.max(limit.burst, 1 + (limit.messagesPerSecond * 10) / 1000);
          for (let from = 0; from < all.length; from++) {
            for (let to = from; to < all.length; to++) {
              const span = (all[to] ?? 0) - (all[from] ?? 0);
              expect(to - from + 1).toBeLessThanOrEqual((span * limit.messagesPerSecond) / 1000 + burst + 1e-6);
            }
          }
          // Everybody who waits goes in the end.
          await clock.advance(300_000);
          expect(times.flat()).toHaveLength(steps.reduce((sum, step) => sum + step.count, 0));
          expect(clock.pending).toBe(0);
        },
      ),
      { numRuns: 40 },
    );
  });

  test("who asks for several messages at once goes with all of them, when there is room for that, and in turn", async () => {
    const clock = new FakeClock();
    const start = clock.monotonic();
    const limiter = new RateLimiter(clock, { messagesPerSecond: 10, burst: 3 });
    const order: [string, number][] = [];
    const asks = (name: string, count: number, signal = never) =>
      Promise.resolve(limiter.take(signal, count)).then(
        () => void order.push([name, clock.monotonic() - start]),
        () => {},
      );
    void asks("two", 2);
    const gone = new AbortController();
    void asks("gone", 3, gone.signal);
    void asks("one", 1);
    void asks("three", 3);
    expect(limiter.within(1_000)).toBe(4);
    await clock.advance(50);
    expect(order).toEqual([["two", 0]]);
    gone.abort();
    await clock.advance(1_000);
    expect(order).toEqual([
      ["two", 0],
      ["one", 50],
      ["three", 300],
    ]);
    expect(clock.pending).toBe(0);
  });

  test("a burst that becomes smaller than what somebody waits for holds nobody up for ever", async () => {
    const clock = new FakeClock();
    const limiter = new RateLimiter(clock, { messagesPerSecond: 10, burst: 3 });
    ask(limiter, clock, 3);
    const waits = limiter.take(never, 3);
    limiter.limit = { messagesPerSecond: 10, burst: 1 };
    await clock.advance(1_000);
    await expect(waits).resolves.toBeUndefined();
  });

  test("whoever asks for several, gives up or gives back: no more go than its rate and one burst allow, and whoever stays goes, in order", async () => {
    const ends = constantFrom("stays", "gives up", "gives back");
    await assert(
      asyncProperty(
        record({ messagesPerSecond: constantFrom(0.5, 3, 40), burst: integer({ min: 5, max: 20 }) }),
        array(record({ count: integer({ min: 1, max: 5 }), ends, rest: integer({ min: 0, max: 2_000 }) }), {
          maxLength: 20,
        }),
        async (limit, asks) => {
          const clock = new FakeClock();
          const limiter = new RateLimiter(clock, limit);
          const went: { readonly asked: number; readonly at: number; readonly count: number }[] = [];
          for (const [asked, { count, ends: how, rest }] of asks.entries()) {
            const giving = new AbortController();
            Promise.resolve(limiter.take(giving.signal, count)).then(
              () => {
                if (how !== "gives back") went.push({ asked, at: clock.monotonic(), count });
                else for (let unused = 0; unused < count; unused++) limiter.giveBack();
              },
              () => {},
            );
            await clock.advance(rest);
            if (how === "gives up") giving.abort();
          }
          await clock.advance(300_000);
          for (const [from, first] of went.entries()) {
            let sum = 0;
            for (const { at, count } of went.slice(from)) {
              sum += count;
              const allowed = limit.burst + ((at - first.at) * limit.messagesPerSecond) / 1_000;
              expect(sum).toBeLessThanOrEqual(allowed + 1e-6);
            }
          }
          const order = went.map(({ asked }) => asked);
          expect(order).toEqual(order.toSorted((a, b) => a - b));
          for (const [asked, { ends: how }] of asks.entries()) if (how === "stays") expect(order).toContain(asked);
          expect(clock.pending).toBe(0);
        },
      ),
      { numRuns: 40 },
    );
  });

  test.each([1, 20])(
    "of a burst of %i so many and a second's worth go within a second, however long none came",
    async (burst) => {
      const clock = new FakeClock();
      const limiter = new RateLimiter(clock, { messagesPerSecond: 5, burst });
      await clock.advance(3_600_000);
      expect(limiter.within(1_000)).toBe(burst + 5);
      for (let taken = 0; taken < burst; taken++) await limiter.take(new AbortController().signal);
      expect(limiter.within(1_000)).toBe(5);
    },
  );
});
