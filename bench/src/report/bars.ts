import { type Measurement, difference, figure, ratio } from "../suite/measurement.ts";

/** A bar that the bridge is to reach, and where it stands. */
export interface Verdict {
  readonly row: string;
  readonly bar: string;
  readonly value: number;
  readonly reached: boolean;
}

/** Messages a second of one core that the engine alone is to carry. */
const ENGINE_PER_CORE = 400_000;
const DELAYED_WINDOWS = 200;

/** Holds measurements against the bars: medians, and for what both contenders do, the median of the rounds' ratios. */
export function verdicts(measurements: readonly Measurement[]): readonly Verdict[] {
  return [...measurements.flatMap(barsOf), ...pipelining(measurements)];
}

function barsOf(measurement: Measurement): readonly Verdict[] {
  const { suite, name } = measurement;
  const row = `${suite}, ${name}`;
  if (suite === "engine") {
    return [
      atLeast(row, "messages a second of one core", figure(measurement, "bridge", "perCoreSecond"), ENGINE_PER_CORE),
    ];
  }
  const throughput = atLeast(row, "throughput / script", ratio(measurement, "perSecond"), 0.95);
  if (suite === "delay") return name === "window 1" ? [] : [throughput];
  return [
    throughput,
    atMost(row, "CPU a message / script", ratio(measurement, "cpuMicros"), 1.25),
    atMost(row, "memory / script", ratio(measurement, "rssMb"), 1.5),
    atMost(row, "p50 at 1,000/s − script, ms", difference(measurement, "p50Ms"), 0.1),
    atMost(row, "messages lost", figure(measurement, "bridge", "lost"), 0),
  ];
}

/** At one link: how much more a wide window carries than a window of one. */
function pipelining(measurements: readonly Measurement[]): readonly Verdict[] {
  const delayed = measurements.filter(({ suite }) => suite === "delay");
  const [narrow, wide] = delayed.map((measurement) => figure(measurement, "bridge", "perSecond"));
  if (narrow === undefined || wide === undefined) return [];
  const gain = { median: wide.median / narrow.median };
  return [atLeast("delay, window 256", "throughput / that of window 1", gain, DELAYED_WINDOWS)];
}

type Median = { readonly median: number } | undefined;

function atLeast(row: string, bar: string, spread: Median, limit: number): Verdict {
  const value = spread?.median ?? Number.NaN;
  return { row, bar: `${bar} ≥ ${limit.toLocaleString("en")}`, value, reached: value >= limit };
}

function atMost(row: string, bar: string, spread: Median, limit: number): Verdict {
  const value = spread?.median ?? Number.NaN;
  return { row, bar: `${bar} ≤ ${limit.toLocaleString("en")}`, value, reached: value <= limit };
}
