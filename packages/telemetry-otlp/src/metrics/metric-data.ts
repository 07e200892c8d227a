import type { Family, HistogramSample, Sample } from "@bridge/telemetry";
import { type HrTime, ValueType } from "@opentelemetry/api";
import { AggregationTemporality, DataPointType, type MetricData } from "@opentelemetry/sdk-metrics";

/** A metric that the interface document names: it is called that here, as it is in CloudWatch. */
const NAMED_BY_CONTRACT: Readonly<Record<string, string>> = {
  bridge_dlq_redrive_failures_total: "DLQRedriveFailures",
};
const UNITS: readonly (readonly [suffix: string, unit: string])[] = [
  ["_seconds", "s"],
  ["_bytes", "By"],
];

/** From when until when something was counted. */
export interface Span {
  readonly start: (sample: Sample | HistogramSample) => HrTime;
  readonly end: HrTime;
}

/**
 * What OpenTelemetry calls a metric: a collector that writes Prometheus text makes the name here of it again, with its
 * unit and `_total` at the end.
 */
export function otlpName(name: string): { readonly name: string; readonly unit: string } {
  const plain = name.replace(/_total$/, "");
  const [suffix = "", unit = ""] = UNITS.find(([ending]) => plain.endsWith(ending)) ?? [];
  const bare = suffix === "" ? plain : plain.slice(0, -suffix.length);
  return { name: NAMED_BY_CONTRACT[name] ?? bare.replace(/^bridge_/, "bridge."), unit };
}

/** A family as the SDK's exporters take it; `undefined` when it has no samples. */
export function metricData(family: Family, temporality: AggregationTemporality, span: Span): MetricData | undefined {
  const { start, end: endTime } = span;
  const { name, unit } = otlpName(family.name);
  const descriptor = { name, unit, description: family.help, valueType: ValueType.DOUBLE };
  if (family.type === "histogram") {
    const observed = Array.from(family.samples, (sample) => {
      const { labels, bounds, counts, sum } = sample;
      return {
        startTime: start(sample),
        endTime,
        attributes: { ...labels },
        value: { buckets: { boundaries: [...bounds], counts: [...counts] }, sum, count: total(counts) },
      };
    });
    if (observed.length === 0) return undefined;
    return {
      descriptor,
      aggregationTemporality: temporality,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: observed,
    };
  }
  const dataPoints = Array.from(family.samples, (sample) => ({
    startTime: start(sample),
    endTime,
    attributes: { ...sample.labels },
    value: sample.value,
  }));
  if (dataPoints.length === 0) return undefined;
  if (family.type === "counter") {
    return {
      descriptor,
      aggregationTemporality: temporality,
      dataPointType: DataPointType.SUM,
      isMonotonic: true,
      dataPoints,
    };
  }
  return {
    descriptor,
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: DataPointType.GAUGE,
    dataPoints,
  };
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
