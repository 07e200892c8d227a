import type { Family, HistogramSample, Sample } from "@bridge/telemetry";
import type { HrTime } from "@opentelemetry/api";

type AnySample = Sample | HistogramSample;

/** What of one series was handed over last. */
interface Told {
  readonly sample: AnySample;
  /** Until when that was counted. */
  readonly at: HrTime;
}

/** What has been counted since the last time, and since when. */
export interface Grown {
  readonly families: readonly Family[];
  readonly since: (sample: AnySample) => HrTime;
  /** It has been handed over, as counted until `at`. Until then it is told again. */
  readonly told: (at: HrTime) => void;
}

/**
 * Turns what was counted since the start into what was counted since the last time. A telling has several portions, each of which
 * is handed over or not.
 */
export class Deltas {
  #told = new Map<string, Told>();
  /** What this telling has handed over so far: afterwards, what it did not have is forgotten. */
  #fresh = new Map<string, Told>();
  /** Until when all was told. What has not been told since did not exist then. */
  #complete: HrTime;

  constructor(started: HrTime) {
    this.#complete = started;
  }

  /** A telling begins. */
  begin(): void {
    this.#fresh = new Map();
  }

  /** A portion of it. Gauges are as they are. */
  next(families: readonly Family[]): Grown {
    const standing = new Map<string, AnySample>();
    const starts = new Map<AnySample, HrTime>();
    const grow = <One extends AnySample>(name: string, sample: One, less: (former: One | undefined) => One): One => {
      const key = JSON.stringify([name, sample.labels]);
      standing.set(key, sample);
      const former = this.#told.get(key);
      const grown = less(former?.sample as One | undefined);
      if (former !== undefined) starts.set(grown, former.at);
      return grown;
    };
    return {
      families: families.map((family): Family => {
        const { name } = family;
        if (family.type === "counter")
          return { ...family, samples: Array.from(family.samples, (one) => grow(name, one, (was) => since(one, was))) };
        if (family.type !== "histogram") return family;
        return {
          ...family,
          samples: Array.from(family.samples, (one) => grow(name, one, (was) => sinceThen(one, was))),
        };
      }),
      since: (sample) => starts.get(sample) ?? this.#complete,
      told: (at) => {
        for (const [key, sample] of standing) {
          const told = { sample, at };
          this.#told.set(key, told);
          this.#fresh.set(key, told);
        }
      },
    };
  }

  /** All portions of this telling have been. */
  complete(at: HrTime): void {
    this.#told = this.#fresh;
    this.#complete = at;
  }
}

/** A counter that has gone back has begun anew. */
function since(sample: Sample, former: Sample | undefined): Sample {
  const before = former === undefined || former.value > sample.value ? 0 : former.value;
  return { labels: sample.labels, value: sample.value - before };
}

function sinceThen(sample: HistogramSample, former: HistogramSample | undefined): HistogramSample {
  const anew = former === undefined || sample.counts.some((count, bucket) => count < (former.counts[bucket] ?? 0));
  if (anew) return { ...sample };
  return {
    ...sample,
    counts: sample.counts.map((count, bucket) => count - (former.counts[bucket] ?? 0)),
    sum: sample.sum - former.sum,
  };
}
