import type { Clock } from "@bridge/ports";

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

/** A clock that moves when it is told to. */
export class HandClock implements Clock {
  #time = 0;
  readonly #sleepers = new Set<Sleeper>();

  /** How many delays are running. */
  get sleepers(): number {
    return this.#sleepers.size;
  }

  now(): number {
    return this.#time;
  }

  monotonic(): number {
    return this.#time;
  }

  delay(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const onAbort = (): void => {
        this.#sleepers.delete(sleeper);
        reject(signal.reason as Error);
      };
      const sleeper = {
        due: this.#time + ms,
        wake: () => {
          signal.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  every(): Disposable {
    throw new Error("nobody here needs a tick");
  }

  /** Lets time pass; resolves when those that it woke have been heard. */
  async advance(ms: number): Promise<void> {
    this.#time += ms;
    for (const sleeper of this.#sleepers) {
      if (sleeper.due > this.#time) continue;
      this.#sleepers.delete(sleeper);
      sleeper.wake();
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}
