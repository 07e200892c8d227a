import type { Family, HistogramSample, Sample } from "@bridge/telemetry";

/** Turns what was counted since the start into what was counted since the last time. */
export class Deltas {
  #told: ReadonlyMap<string, Sample | HistogramSample> = new Map();
  #standing = this.#told;

  /** Until {@link told}, what has been counted is told again. Gauges are as they are. */
  next(families: readonly Family[]): readonly Family[] {
    const standing = new Map<string, Sample | HistogramSample>();
    const former = <One extends Sample | HistogramSample>(name: string, sample: One): One | undefined => {
      const key = JSON.stringify([name, sample.labels]);
      standing.set(key, sample);
      return this.#told.get(key) as One | undefined;
    };
    const grown = families.map((family): Family => {
      if (family.type === "counter") {
        return { ...family, samples: Array.from(family.samples, (one) => since(one, former(family.name, one))) };
      }
      if (family.type !== "histogram") return family;
      return { ...family, samples: Array.from(family.samples, (one) => sinceThen(one, former(family.name, one))) };
    });
    this.#standing = standing;
    return grown;
  }

  /** What the last {@link next} gave has been handed over. */
  told(): void {
    this.#told = this.#standing;
  }
}

/** A counter that has gone back has begun anew. */
function since(sample: Sample, former: Sample | undefined): Sample {
  const before = former === undefined || former.value > sample.value ? 0 : former.value;
  return { labels: sample.labels, value: sample.value - before };
}

function sinceThen(sample: HistogramSample, former: HistogramSample | undefined): HistogramSample {
  const anew = former === undefined || sample.counts.some((count, bucket) => count < (former.counts[bucket] ?? 0));
  if (anew) return sample;
  return {
    ...sample,
    counts: sample.counts.map((count, bucket) => count - (former.counts[bucket] ?? 0)),
    sum: sample.sum - former.sum,
  };
}
