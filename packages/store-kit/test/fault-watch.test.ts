import { BridgeError, type Clock, systemClock } from "@bridge/ports";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FaultWatch } from "../src/index.ts";

const away = new BridgeError("CONNECTION_LOST", "nothing listens there");

describe("a store that nobody uses", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const over = new AbortController();
  const clock: Clock = systemClock;

  test("finding 2.4: tells that its service went away, and that it is back", async () => {
    let there = true;
    const watch: FaultWatch = new FaultWatch(
      clock,
      async () => {
        if (there) return watch.succeeded();
        watch.failed(away);
        throw away;
      },
      over.signal,
    );
    await vi.advanceTimersByTimeAsync(60_000);
    expect(watch.health()).toEqual({ setAside: [] });
    there = false;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(watch.health().fault).toBe(away.message);
    there = true;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(watch.health()).toEqual({ setAside: [] });
  });

  test("is not asked while its calls succeed, nor twice at once, and each look has an end", async () => {
    const looks: AbortSignal[] = [];
    const watch = new FaultWatch(
      clock,
      (signal) => {
        looks.push(signal);
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
      },
      over.signal,
    );
    for (let second = 0; second < 60; second++) {
      watch.succeeded();
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(looks).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(looks.length).toBeGreaterThan(5);
    expect(looks.filter((signal) => !signal.aborted).length).toBeLessThanOrEqual(1);
    over.abort();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});
