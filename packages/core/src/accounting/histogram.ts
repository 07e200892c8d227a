/** A reading of a {@link Histogram}. */
export interface HistogramStats {
  /** Upper bounds of the buckets, inclusive and ascending, in milliseconds. */
  readonly bounds: readonly number[];
  /** Observations per bucket; one entry more than `bounds`, for those above all bounds. */
  readonly counts: readonly number[];
  /** The sum of all observations, in milliseconds. */
  readonly sum: number;
}

/** Durations in fixed buckets. Plain numbers, because every message writes to it. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  /** The number of observations. */
  count = 0;

  /** `bounds`: ascending, in milliseconds. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(ms: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && ms > (bounds[bucket] as number)) bucket++;
    (this.#counts[bucket] as number)++;
    this.#sum += ms;
    this.count++;
  }

  /** Adds the observations of another histogram with the same bounds. */
  add(other: Histogram): void {
    for (const [bucket, count] of other.#counts.entries()) (this.#counts[bucket] as number) += count;
    this.#sum += other.#sum;
    this.count += other.count;
  }

  read(): HistogramStats {
    return { bounds: this.#bounds, counts: this.#counts.slice(), sum: this.#sum };
  }
}
