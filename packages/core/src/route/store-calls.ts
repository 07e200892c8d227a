import type { Clock } from "@bridge/ports";

/** The calls of one store that a route waits for. */
export class StoreCalls {
  readonly #clock: Clock;
  /** In the order in which they began. */
  readonly #open = new Set<{ readonly at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long the oldest has gone without an answer; 0 when there is none. */
  get oldestMs(): number {
    const [oldest] = this.#open;
    return oldest === undefined ? 0 : this.#clock.monotonic() - oldest.at;
  }

  /** `call`, counted while it goes on. */
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
