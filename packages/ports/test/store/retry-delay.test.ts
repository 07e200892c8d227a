import { systemRandom } from "../../src/system.ts";
import { expect, test } from "vitest";
import { retryDelay } from "../../src/store/retry-delay.ts";

const at = (next: number) => ({ ...systemRandom(), next: () => next });

test("waits grow twofold from 50 ms to 2 s, and are spread from nothing to all of it", () => {
  expect([1, 2, 3, 6, 7, 100].map((tries) => retryDelay(tries, at(1)))).toEqual([50, 100, 200, 1_600, 2_000, 2_000]);
  expect([1, 2, 3].map((tries) => retryDelay(tries, at(0)))).toEqual([0, 0, 0]);
  expect(retryDelay(3, at(0.25))).toBe(50);
});
