import type { Family, HistogramSample, Labels, NumberType, Sample } from "../family.ts";
import { type EmfValues, emfValues } from "./emf-histogram.ts";
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
/** They name what changes with each start and count nothing, or say what another one says too: each is paid for. */
const NO_METRICS = new Set([
  "bridge_info",
  "nodejs_eventloop_lag_mean_seconds",
  "nodejs_eventloop_lag_p50_seconds",
  "nodejs_eventloop_lag_p90_seconds",
  "nodejs_heap_size_total_bytes",
  "nodejs_version_info",
  "process_cpu_system_seconds_total",
  "process_cpu_user_seconds_total",
  "process_max_fds",
  "process_start_time_seconds",
]);

interface Metric {
  readonly name: string;
  readonly unit: string;
  readonly value: number | EmfValues;
}

interface DimensionSet {
  readonly labels: Labels;
  readonly metrics: Metric[];
}

/** Turns what a process counts into lines of CloudWatch's embedded metric format. Counters are told as what they grew by. */
export class EmfLines {
  readonly #frame: EmfFrame;
  /** What each counter, and each bucket of a histogram, stood at when it was last told. */
  #told: ReadonlyMap<string, readonly number[]> = new Map();
  #standing = this.#told;

  constructor(frame: EmfFrame) {
    this.#frame = frame;
  }

  /**
   * A line for each set of dimensions. A counter with labels that did not move is not told, nor is a histogram. Until
   * {@link told}, what they grew by is told again.
   */
  next(families: readonly Family[], at: number): readonly string[] {
    const standing = new Map<string, readonly number[]>();
    const sets = new Map<string, DimensionSet>();
    let leftOut = 0;
    for (const family of families) {
      if (NO_METRICS.has(family.name)) continue;
      for (const { labels, metric } of this.#metrics(family, standing)) {
        if (metric === undefined) continue;
        const set = setFor(labels, sets);
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

  #metrics(family: Family, standing: Map<string, readonly number[]>) {
    const { name } = family;
    const unit = unitOf(family);
    const as = (labels: Labels, value: Metric["value"] | undefined) => ({
      labels,
      metric: value === undefined ? undefined : { name: emfName(name), unit, value },
    });
    if (family.type === "histogram")
      return Array.from(family.samples, (one) => as(one.labels, this.#observed(name, one, standing)));
    return Array.from(family.samples, (one) => as(one.labels, this.#number(name, family.type, one, standing)));
  }

  #observed(name: string, sample: HistogramSample, standing: Map<string, readonly number[]>): EmfValues | undefined {
    const key = JSON.stringify([name, sample.labels]);
    standing.set(key, sample.counts);
    return emfValues(sample, this.#told.get(key));
  }

  #number(
    name: string,
    type: NumberType,
    { labels, value }: Sample,
    standing: Map<string, readonly number[]>,
  ): number | undefined {
    if (!Number.isFinite(value)) return undefined;
    if (type !== "counter") return value;
    const key = JSON.stringify([name, labels]);
    const [former = 0] = this.#told.get(key) ?? [];
    standing.set(key, [value]);
    const grown = value < former ? value : value - former;
    return grown === 0 && Object.keys(labels).length > 0 ? undefined : grown;
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

function unitOf({ name, type }: Family): string {
  const base = name.replace(/_total$/, "");
  if (base.endsWith("_seconds")) return "Seconds";
  if (base.endsWith("_bytes")) return "Bytes";
  return type === "counter" ? "Count" : "None";
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
