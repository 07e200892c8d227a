import type { Family, Sample } from "../exposition.ts";
import { dimensionName, emfName } from "./emf-name.ts";

/** What every line of a process says besides its metrics. */
export interface EmfFrame {
  readonly namespace: string;
  /** Dimensions of every metric: what they are summed up by, so nothing that changes with each start. */
  readonly dimensions: Readonly<Record<string, string>>;
  /** What can be searched for, and is no dimension. */
  readonly properties: Readonly<Record<string, string>>;
}

/** More sets of dimensions are left out, and counted in `MetricsLeftOut`: each is a metric that is paid for. */
const MAX_SETS = 500;
/** What CloudWatch takes in one line. */
const MAX_METRICS = 100;
/** They name what changes with each start, and count nothing. */
const NO_METRICS = new Set(["bridge_info"]);

interface Metric {
  readonly name: string;
  readonly unit: string;
  readonly value: number;
}

interface DimensionSet {
  readonly labels: Readonly<Record<string, string>>;
  readonly metrics: Metric[];
}

/** Turns what a process counts into lines of CloudWatch's embedded metric format. Counters are told as what they grew by. */
export class EmfLines {
  readonly #frame: EmfFrame;
  /** What each counter stood at when it was last told. */
  #told: ReadonlyMap<string, number> = new Map();
  #standing = this.#told;

  constructor(frame: EmfFrame) {
    this.#frame = frame;
  }

  /**
   * A line for each set of dimensions. A counter with labels that did not move is not told. Until {@link told}, what
   * counters grew by is told again.
   */
  next(families: readonly Family[], at: number): readonly string[] {
    const standing = new Map<string, number>();
    const sets = new Map<string, DimensionSet>();
    let leftOut = 0;
    for (const family of families) {
      if (NO_METRICS.has(family.name)) continue;
      for (const sample of family.samples) {
        const metric = this.#metric(family, sample, standing);
        if (metric === undefined) continue;
        const set = setFor(sample.labels, sets);
        if (set === undefined || set.metrics.length === MAX_METRICS) leftOut++;
        else set.metrics.push(metric);
      }
    }
    this.#standing = standing;
    if (leftOut > 0) setFor({}, sets)?.metrics.push({ name: "MetricsLeftOut", unit: "Count", value: leftOut });
    return Array.from(sets.values(), (set) => this.#line(set, at));
  }

  /** The lines of the last {@link next} have been handed over. */
  told(): void {
    this.#told = this.#standing;
  }

  #metric({ name, type }: Family, { labels, value }: Sample, standing: Map<string, number>): Metric | undefined {
    if (!Number.isFinite(value)) return undefined;
    const unit = name.endsWith("_seconds") ? "Seconds" : type === "counter" ? "Count" : "None";
    if (type !== "counter") return { name: emfName(name), unit, value };
    const key = JSON.stringify([name, labels]);
    const former = this.#told.get(key) ?? 0;
    standing.set(key, value);
    const grown = value < former ? value : value - former;
    if (grown === 0 && Object.keys(labels).length > 0) return undefined;
    return { name: emfName(name), unit, value: grown };
  }

  #line({ labels, metrics }: DimensionSet, at: number): string {
    const { namespace, dimensions, properties } = this.#frame;
    // A dimension cannot be empty.
    const own = Object.entries(labels).map(([name, value]) => [dimensionName(name), value === "" ? "none" : value]);
    const all = { ...dimensions, ...Object.fromEntries(own) } as Readonly<Record<string, string>>;
    const directive = {
      Namespace: namespace,
      Dimensions: [Object.keys(all)],
      Metrics: metrics.map(({ name, unit }) => ({ Name: name, Unit: unit })),
    };
    const values = Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
    return JSON.stringify({
      _aws: { Timestamp: at, CloudWatchMetrics: [directive] },
      ...properties,
      ...all,
      ...values,
    });
  }
}

function setFor(labels: Sample["labels"], sets: Map<string, DimensionSet>): DimensionSet | undefined {
  const key = JSON.stringify(labels);
  const known = sets.get(key);
  if (known !== undefined) return known;
  // Room for the set without labels is kept: it says what was left out.
  if (key !== "{}" && sets.size >= MAX_SETS) return undefined;
  const set = { labels, metrics: [] };
  sets.set(key, set);
  return set;
}
