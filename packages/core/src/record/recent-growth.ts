import type { Clock } from "@bridge/ports";

interface Growth {
  value: number;
  /** Monotonic milliseconds; absent while it has not grown. */
  at: number | undefined;
  seen: boolean;
}

/** When each counter last grew. Growth before the first look counts as old. */
export class RecentGrowth {
  readonly #clock: Clock;
  readonly #counters = new Map<string, Growth>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Begins a round of looks. */
  begin(): void {
    for (const growth of this.#counters.values()) growth.seen = false;
  }

  /** Whether the counter, now at `value`, has grown within this many milliseconds. */
  within(key: string, value: number, withinMs: number): boolean {
    const now = this.#clock.monotonic();
    let growth = this.#counters.get(key);
    // A counter not seen before stood at 0: counters are created when first needed, and begin there.
    if (growth === undefined) {
      growth = { value: this.#isFirst ? value : 0, at: undefined, seen: true };
      this.#counters.set(key, growth);
    }
    if (value > growth.value) growth.at = now;
    growth.value = value;
    growth.seen = true;
    return growth.at !== undefined && now - growth.at < withinMs;
  }

  /** Ends the round: forgets counters that it did not look at. */
  end(): void {
    this.#isFirst = false;
    for (const [key, { seen }] of this.#counters) if (!seen) this.#counters.delete(key);
  }

  #isFirst = true;
}
