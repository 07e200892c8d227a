import { type Clock, systemClock } from "@bridge/ports";

interface Timer {
  at: number;
  readonly everyMs: number | undefined;
  readonly fire: () => void;
}

/** Time that passes only when a test says so. */
export class FakeClock implements Clock {
  #now = 1_000_000;
  #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  /** Timers armed and not fired. */
  get pending(): number {
    return this.#timers.size;
  }

  delay(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const timer: Timer = {
        at: this.#now + ms,
        everyMs: undefined,
        fire: () => {
          signal.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      const onAbort = (): void => {
        this.#timers.delete(timer);
        reject(signal.reason as Error);
      };
      this.#timers.add(timer);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  every(ms: number, tick: () => void): Disposable {
    const timer: Timer = { at: this.#now + ms, everyMs: ms, fire: tick };
    this.#timers.add(timer);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }

  /** By the machine's time: a bound that waited for the test would bound nothing. */
  after(ms: number, fire: () => void): Disposable {
    return systemClock.after(ms, fire);
  }

  turn(run: () => void): void {
    systemClock.turn(run);
  }

  /** Lets `ms` pass: every timer fires at its time, and what it set off runs before the next one. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await turn();
      const next = [...this.#timers].filter((timer) => timer.at <= end).toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#now = Math.max(this.#now, next.at);
      if (next.everyMs === undefined) this.#timers.delete(next);
      else next.at = this.#now + next.everyMs;
      next.fire();
    }
    this.#now = end;
    await turn();
  }

  /** Time passes while nothing can run: as when the event loop is held up. */
  skip(ms: number): void {
    this.#now += ms;
  }

  /** Lets time pass, a step at a time, until `condition` holds. */
  async until(condition: () => boolean, stepMs = 10, steps = 20_000): Promise<void> {
    for (let step = 0; step < steps; step++) {
      if (condition()) return;
      await this.advance(stepMs);
    }
    throw new Error("the condition was never met");
  }
}

/** Lets everything that is ready run. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
