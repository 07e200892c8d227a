import type { Clock } from "@bridge/ports";

interface Sleeper {
  readonly due: number;
  readonly resolve: () => void;
}

/** A clock that moves when it is told to. */
export class ManualClock implements Clock {
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
      const sleeper = { due: this.#time + ms, resolve };
      this.#sleepers.add(sleeper);
      const onAbort = (): void => {
        this.#sleepers.delete(sleeper);
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  every(): Disposable {
    throw new Error("nobody here needs a tick");
  }

  advance(ms: number): void {
    this.#time += ms;
    for (const sleeper of this.#sleepers) {
      if (sleeper.due > this.#time) continue;
      this.#sleepers.delete(sleeper);
      sleeper.resolve();
    }
  }
}
