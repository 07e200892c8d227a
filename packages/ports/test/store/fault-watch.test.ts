import { BridgeError } from "../../src/errors.ts";
import { type Clock } from "../../src/seams.ts";
import { systemClock } from "../../src/system.ts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { FaultWatch } from "../../src/store/fault-watch.ts";

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
        if (there) return watch.succeeded("trying");
        watch.failed("trying", away);
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

  test("that lets nobody write is not well because reading works", async () => {
    let refuses = true;
    const trials: boolean[] = [];
    const watch: FaultWatch = new FaultWatch(
      clock,
      async (faulty) => {
        trials.push(faulty);
        if (faulty && refuses) watch.failed("trying", away);
        if (faulty && refuses) throw away;
        watch.succeeded("trying");
      },
      new AbortController().signal,
    );
    watch.failed("writing", away);
    watch.succeeded("reading");
    expect(watch.health().fault).toBe(away.message);
    await vi.advanceTimersByTimeAsync(10_000);
    watch.succeeded("reading");
    expect(watch.health().fault).toBe(away.message);
    expect(new Set(trials)).toEqual(new Set([true]));
    refuses = false;
    await vi.advanceTimersByTimeAsync(4_000);
    expect(watch.health()).toEqual({ setAside: [] });
  });

  test("is asked at once by who has to know, and what fails meanwhile stays told", async () => {
    const asked = Promise.withResolvers<void>();
    const watch = new FaultWatch(clock, () => asked.promise, new AbortController().signal);
    watch.failed("writing", away);
    const looked = watch.look();
    watch.failed("reading", away);
    asked.resolve();
    await looked;
    expect(watch.failure).toBe(away);
    watch.succeeded("reading");
    expect(watch.failure).toBeUndefined();
  });

  test("is not asked twice at once, each look has an end, and one that gets no turn says nothing while calls succeed", async () => {
    const looks: AbortSignal[] = [];
    const watch = new FaultWatch(
      clock,
      (_faulty, signal) => {
        looks.push(signal);
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
      },
      over.signal,
    );
    for (let second = 0; second < 60; second++) {
      watch.succeeded("writing");
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(watch.health()).toEqual({ setAside: [] });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(looks.length).toBeGreaterThan(5);
    expect(looks.filter((signal) => !signal.aborted).length).toBeLessThanOrEqual(1);
    expect(watch.health().fault).toContain("no answer");
    over.abort();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});
