import { figure, type Measurement, ratio, roundByRound } from "../suite/measurement.ts";
import { atLeast, atMost, type Median, type Verdict } from "./verdict.ts";

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

/** The bars of each suite. */
const BARS: Readonly<Record<string, readonly Bar[]>> = {
  engine: [{ rows: /./, what: "messages a second of one core", limit: 400_000, of: bridge("perCoreSecond") }],
  functions: [
    {
      rows: /handler/,
      what: "CPU beyond the script, µs",
      limit: 1,
      atMost: true,
      of: ({ runs }) => roundByRound(runs.bridge, runs.script, "cpuMicros", (one, other) => one - other),
    },
    { rows: /PostgreSQL/, what: "throughput / script", limit: 3, of: throughput },
  ],
  outbox: [
    { rows: /in flight/, what: "messages a second", limit: 40_000, of: bridge("perSecond") },
    { rows: /a second/, what: "event loop p99, ms", limit: 10, atMost: true, of: bridge("loopP99Ms") },
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
  looking: [
    { rows: /./, what: "throughput / nobody looking", limit: 0.98, of: throughput },
    // Where a message is settled in less than what one look at it takes, no share of it is left for that.
    { rows: /web service/, what: "p99 / nobody looking", limit: 1.1, atMost: true, of: (row) => ratio(row, "p99Ms") },
  ],
  million: [
    { rows: /counted/, what: "ms", limit: 5_000, atMost: true, of: bridge("elapsedMs") },
    { rows: /summary/, what: "ms", limit: 50, atMost: true, of: bridge("elapsedMs") },
    {
      rows: /counted|summary|page|plan|purge|undo/,
      what: "event loop p99, ms",
      limit: 10,
      atMost: true,
      of: bridge("loopP99Ms"),
    },
    { rows: /^purge/, what: "messages of a route beside it a second", limit: 1_900, of: bridge("trafficPerSecond") },
    { rows: /^redrive/, what: "entries a second", limit: 2_000, of: bridge("perSecond") },
    { rows: /^redrive/, what: "RSS, 4th/2nd quarter", limit: 1.1, atMost: true, of: bridge("rssGrew") },
    { rows: /^(purge|undo|redrive)/, what: "entries lost", limit: 0, atMost: true, of: bridge("lost") },
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
  return measurements.flatMap(barsOf);
}

function barsOf(measurement: Measurement): readonly Verdict[] {
  const { suite, name } = measurement;
  const bars = (BARS[suite] ?? []).filter(({ rows }) => rows.test(name));
  return bars.map(({ what, limit, atMost: most, of }) =>
    (most === true ? atMost : atLeast)(`${suite}, ${name}`, what, of(measurement), limit),
  );
}
