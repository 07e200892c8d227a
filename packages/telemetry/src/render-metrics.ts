import type { BridgeStats, BridgeView } from "@bridge/core";
import { exposition } from "./exposition.ts";
import type { Family } from "./family.ts";
import { METRICS } from "./metrics/all-metrics.ts";
import { familyOf, type Surroundings } from "./metrics/metric.ts";

/**
 * What the bridge counts and measures. Pure: reads what it is given, keeps nothing. Every metric is there with its help
 * and type, even when it has no sample yet.
 */
export function metricFamilies(
  stats: BridgeStats,
  view: BridgeView,
  surroundings: Surroundings = {},
): readonly Family[] {
  const reading = { ...surroundings, stats, view };
  return METRICS.map((metric) => familyOf(metric, reading));
}

/** The same as Prometheus text (format 0.0.4). */
export function renderMetrics(stats: BridgeStats, view: BridgeView, surroundings: Surroundings = {}): string {
  return exposition(metricFamilies(stats, view, surroundings));
}
