import { type Measurement, difference, figure, ratio } from "../suite/measurement.ts";

/** A bar that the bridge is to reach, and where it stands. */
export interface Verdict {
  readonly row: string;
  readonly bar: string;
  readonly value: number;
  readonly reached: boolean;
}

const DELAYED_WINDOWS = 200;

interface Bar {
  /** The measurements that it is for, by their names. */
  readonly rows: RegExp;
  readonly what: string;
  readonly limit: number;
  /** Whether the limit is the largest value, rather than the smallest. */
  readonly atMost?: boolean;
  readonly of: (measurement: Measurement) => Median;
}

const bridge =
  (name: string) =>
  (measurement: Measurement): Median =>
    figure(measurement, "bridge", name);
const throughput = (measurement: Measurement): Median => ratio(measurement, "perSecond");

/** Into an emulator, whose answers take milliseconds: the latency that is added shows nothing. */
const SQS_BARS: readonly Bar[] = [
  { rows: /./, what: "throughput / script", limit: 0.95, of: throughput },
  {
    rows: /./,
    what: "requests a message / script",
    limit: 1.1,
    atMost: true,
    of: (row) => ratio(row, "requestsPerMessage"),
  },
  { rows: /./, what: "messages lost", limit: 0, atMost: true, of: bridge("lost") },
];

/** The bars of what is no route against its script. */
const OWN_BARS: Readonly<Record<string, readonly Bar[]>> = {
  engine: [{ rows: /./, what: "messages a second of one core", limit: 400_000, of: bridge("perCoreSecond") }],
  outbox: [
    { rows: /in flight/, what: "messages a second", limit: 40_000, of: bridge("perSecond") },
    { rows: /a second/, what: "event loop p99, ms", limit: 10, atMost: true, of: bridge("loopP99Ms") },
    { rows: /window/, what: "throughput / direct_hold", limit: 0.6, of: throughput },
    { rows: /window/, what: "messages lost", limit: 0, atMost: true, of: bridge("lost") },
  ],
  persist: [
    { rows: /main/, what: "throughput / SQLite", limit: 0.5, of: throughput },
    { rows: /worker/, what: "throughput / SQLite", limit: 0.15, of: throughput },
  ],
  "dlq-file": [
    { rows: /page/, what: "p50, ms", limit: 2, atMost: true, of: bridge("p50Ms") },
    { rows: /page/, what: "p99, ms", limit: 20, atMost: true, of: bridge("p99Ms") },
    { rows: /delete/, what: "event loop blocked, ms", limit: 50, atMost: true, of: bridge("loopMaxMs") },
  ],
  "sqs-sqs": SQS_BARS,
  "mqtt-sqs": SQS_BARS,
  redrive: [
    { rows: /./, what: "entries a second", limit: 2_000, of: bridge("perSecond") },
    { rows: /./, what: "messages lost", limit: 0, atMost: true, of: bridge("lost") },
  ],
  probes: [
    { rows: /full$/, what: "ms", limit: 1_000, atMost: true, of: bridge("elapsedMs") },
    { rows: /validate/, what: "ms", limit: 400, atMost: true, of: bridge("elapsedMs") },
    { rows: /load/, what: "p99, ms", limit: 20, atMost: true, of: bridge("p99Ms") },
  ],
};

/** Holds measurements against the bars: medians, and for what both contenders do, the median of the rounds' ratios. */
export function verdicts(measurements: readonly Measurement[]): readonly Verdict[] {
  return [...measurements.flatMap(barsOf), ...pipelining(measurements)];
}

function barsOf(measurement: Measurement): readonly Verdict[] {
  const { suite, name } = measurement;
  const row = `${suite}, ${name}`;
  const own = OWN_BARS[suite];
  if (own !== undefined) {
    const bars = own.filter(({ rows }) => rows.test(name));
    return bars.map(({ what, limit, atMost: most, of }) =>
      (most === true ? atMost : atLeast)(row, what, of(measurement), limit),
    );
  }
  const rate = atLeast(row, "throughput / script", throughput(measurement), 0.95);
  if (suite === "delay") return name === "window 1" ? [] : [rate];
  return [
    rate,
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
