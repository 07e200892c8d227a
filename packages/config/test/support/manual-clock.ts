import type { Clock } from "@bridge/ports";

/** A clock that moves when a test says so. */
export class ManualClock implements Clock {
  #time = 0;
  readonly #waiting = new Set<{ readonly due: number; readonly resolve: () => void }>();

  now(): number {
    return Date.UTC(2026, 0, 1) + this.#time;
  }

  monotonic(): number {
    return this.#time;
  }

  /** How many somebody waits for. */
  get delays(): number {
    return this.#waiting.size;
  }

  delay(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = { due: this.#time + ms, resolve };
      this.#waiting.add(waiting);
      signal.addEventListener("abort", () => {
        this.#waiting.delete(waiting);
        reject(signal.reason as Error);
      });
    });
  }

  every(): Disposable {
    throw new Error("nobody here repeats anything");
  }

  advance(ms: number): void {
    this.#time += ms;
    for (const waiting of this.#waiting) {
      if (waiting.due > this.#time) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
  }
}
