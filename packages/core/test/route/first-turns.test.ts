import { expect, test } from "vitest";
import { RateLimiter } from "../../src/control/rate-limiter.ts";
import { FirstTurns } from "../../src/route/first-turns.ts";
import type { Target } from "../../src/route/route-parts.ts";
import type { Work } from "../../src/route/work.ts";
import { FakeClock } from "../support/fake-clock.ts";

/** Legs at a sender that lets one a second go, and has let its burst go already; `went` tells which legs have their turn. */
function stage({ burst, legs = 3 }: { readonly burst: number; readonly legs?: number }) {
  const clock = new FakeClock();
  const rate = new RateLimiter(clock, { messagesPerSecond: 1, burst });
  void rate.take(new AbortController().signal, burst);
  const giving = new AbortController();
  const targets = Array.from({ length: legs }, () => ({ rate }) as Target);
  const turns = new FirstTurns({ signal: giving.signal } as Work, targets);
  const went: number[] = [];
  const comes = (leg: number): void => {
    Promise.resolve(turns.take(rate)).then(
      () => went.push(leg),
      () => {},
    );
  };
  return { clock, rate, targets, turns, went, comes, giveUp: () => giving.abort() };
}

test("legs that share a limit get their turns together, when there is room for all", async () => {
  const { clock, rate, went, comes } = stage({ burst: 5 });
  for (const leg of [0, 1, 2]) comes(leg);
  await clock.advance(2_900);
  expect(went).toEqual([]);
  await clock.advance(200);
  expect(went).toEqual([0, 1, 2]);
  expect(rate.within(0)).toBe(0);
});

test("legs with another limit do not wait for them", async () => {
  const { clock, targets, turns, went, comes } = stage({ burst: 3, legs: 2 });
  const other = new RateLimiter(clock, { messagesPerSecond: 1, burst: 1 });
  targets.push({ rate: other } as Target);
  for (const leg of [0, 1]) comes(leg);
  expect(turns.take(other)).toBeUndefined();
  await clock.advance(2_100);
  expect(went).toEqual([0, 1]);
});

test("of more legs than may go at once each takes a turn of its own, so that no more than that go at once", async () => {
  const { clock, went, comes } = stage({ burst: 2 });
  for (const leg of [0, 1, 2]) comes(leg);
  for (const those of [[0], [0, 1], [0, 1, 2]]) {
    await clock.advance(1_010);
    expect(went).toEqual(those);
  }
});

test("a leg that ends before it has come for its turn leaves it to the next, if it was given", async () => {
  const { clock, rate, turns, went, comes, giveUp } = stage({ burst: 3 });
  turns.passOver(rate);
  comes(0);
  turns.passOver(rate);
  expect(rate.within(900)).toBe(0);
  await clock.advance(3_100);
  expect([went, rate.within(0)]).toEqual([[0], 0]);
  turns.passOver(rate);
  expect(rate.within(0)).toBe(1);
  giveUp();
  expect(rate.within(0)).toBe(1);
});
