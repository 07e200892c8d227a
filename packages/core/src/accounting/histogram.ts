/** A reading of a {@link Histogram}. */
export interface HistogramStats {
  /** Upper bounds of the buckets in milliseconds, each included, ascending. */
  readonly bounds: readonly number[];
  /** How many observations each bucket has; one more than bounds, for what is above them all. */
  readonly counts: readonly number[];
  /** Of all observations, in milliseconds. */
  readonly sum: number;
}

/** How long something took, in buckets that never change. Plain numbers, because every message writes to it. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  /** How many observations it has. */
  count = 0;

  /** `bounds`: in milliseconds, ascending. */
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

  /** Adds what another one of the same bounds has observed. */
  add(other: Histogram): void {
    for (const [bucket, count] of other.#counts.entries()) (this.#counts[bucket] as number) += count;
    this.#sum += other.#sum;
    this.count += other.count;
  }

  read(): HistogramStats {
    return { bounds: this.#bounds, counts: this.#counts.slice(), sum: this.#sum };
  }
}
