import type { Clock } from "@bridge/ports";

interface Growth {
  value: number;
  /** Monotonic milliseconds; absent while it has not grown. */
  at: number | undefined;
  seen: boolean;
}

/** When counters have last grown. What is there at the first look has grown before. */
export class RecentGrowth {
  readonly #clock: Clock;
  readonly #counters = new Map<string, Growth>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A round of looks begins. */
  begin(): void {
    for (const growth of this.#counters.values()) growth.seen = false;
  }

  /** Whether a counter, which is at `value` by now, has grown within so many milliseconds. */
  within(key: string, value: number, withinMs: number): boolean {
    const now = this.#clock.monotonic();
    let growth = this.#counters.get(key);
    // One that is not there yet stands at 0: counters begin there, and are made when they are first needed.
    if (growth === undefined) {
      growth = { value: this.#isFirst ? value : 0, at: undefined, seen: true };
      this.#counters.set(key, growth);
    }
    if (value > growth.value) growth.at = now;
    growth.value = value;
    growth.seen = true;
    return growth.at !== undefined && now - growth.at < withinMs;
  }

  /** It is over: counters that nobody has looked at are gone. */
  end(): void {
    this.#isFirst = false;
    for (const [key, { seen }] of this.#counters) if (!seen) this.#counters.delete(key);
  }

  #isFirst = true;
}
