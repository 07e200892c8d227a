import { afterEach, expect, test, vi } from "vitest";
import { keptLink } from "./kept-link.ts";

afterEach(() => void vi.useRealTimers());

test("a broker that does not acknowledge subscriptions, and never fails either, is left after 30 s and asked again", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let closed = 0;
  const { link, ended } = keptLink({
    reconcile: () => new Promise(() => {}),
    async [Symbol.asyncDispose]() {
      closed++;
    },
  });
  await vi.advanceTimersByTimeAsync(29_000);
  expect([link.failures, closed]).toEqual([0, 0]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect([link.failures, link.lastError?.code, closed]).toEqual([1, "TIMEOUT", 1]);
  expect(await ended()).toBe(0);
});
