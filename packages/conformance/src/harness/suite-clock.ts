import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "@bridge/ports";

interface Timer {
  dueAt: number;
  readonly everyMs: number | undefined;
  readonly fire: () => void;
}

/** Time that passes when a case says so, and of which the part that people read can be set. */
export class SuiteClock implements Clock {
  /** Apart from the time of day by more than any case lasts, so that one taken for the other shows. */
  #monotonic = 1_000_000;
  #epoch: number;
  readonly #timers = new Set<Timer>();

  constructor(now: number) {
    this.#epoch = now - this.#monotonic;
  }

  now(): number {
    return this.#epoch + this.#monotonic;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  async delay(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = this.#arm(ms, undefined, resolve);
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#timers.delete(timer);
    }
  }

  every(ms: number, tick: () => void): Disposable {
    const timer = this.#arm(ms, ms, tick);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }

  after(ms: number, fire: () => void): Disposable {
    const timer = this.#arm(ms, undefined, fire);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }

  turn(run: () => void): void {
    setImmediate(run);
  }

  /** Lets `ms` pass: every timer fires at its time, and what it set off has a turn before the next one. */
  async pass(ms: number): Promise<void> {
    const end = this.#monotonic + ms;
    for (let next = this.#nextUntil(end); next !== undefined; next = this.#nextUntil(end)) {
      this.#reach(next.dueAt);
      if (next.everyMs === undefined) this.#timers.delete(next);
      else next.dueAt = this.#monotonic + next.everyMs;
      next.fire();
      await turn();
    }
    this.#reach(end);
    await turn();
  }

  /** Sets the time of day by `ms`, forwards or backwards; no time passes. */
  jump(ms: number): void {
    this.#epoch += ms;
  }

  #arm(ms: number, everyMs: number | undefined, fire: () => void): Timer {
    const timer = { dueAt: this.#monotonic + ms, everyMs, fire };
    this.#timers.add(timer);
    return timer;
  }

  #nextUntil(end: number): Timer | undefined {
    return [...this.#timers].filter(({ dueAt }) => dueAt <= end).toSorted((a, b) => a.dueAt - b.dueAt)[0];
  }

  /** Never backwards: two may let time pass at once. */
  #reach(monotonic: number): void {
    this.#monotonic = Math.max(this.#monotonic, monotonic);
  }
}
