import type { Clock } from "@bridge/ports";

/** The pending calls to one store that a route waits for. */
export class StoreCalls {
  readonly #clock: Clock;
  /** In order of their start. */
  readonly #open = new Set<{ readonly at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long the oldest has been unanswered, in milliseconds; 0 if there is none. */
  get oldestMs(): number {
    const [oldest] = this.#open;
    return oldest === undefined ? 0 : this.#clock.monotonic() - oldest.at;
  }

  /** Awaits `call` and counts it while it is pending. */
  async during<Result>(call: Promise<Result>): Promise<Result> {
    const mark = { at: this.#clock.monotonic() };
    this.#open.add(mark);
    try {
      return await call;
    } finally {
      this.#open.delete(mark);
    }
  }
}
