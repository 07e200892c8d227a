import type { BridgeStats, BridgeView } from "@bridge/core";
import { exposition, type Family } from "./exposition.ts";
import { METRICS, type Surroundings } from "./metrics.ts";

/**
 * The bridge's counters and gauges. Pure: reads what it is given, keeps nothing. Every metric is there with its help and
 * type, even when it has no sample yet.
 */
export function metricFamilies(
  stats: BridgeStats,
  view: BridgeView,
  surroundings: Surroundings = {},
): readonly Family[] {
  return METRICS.map(({ name, type, help, read }) => ({ name, type, help, samples: read(stats, view, surroundings) }));
}

/** The same as Prometheus text (format 0.0.4). */
export function renderMetrics(stats: BridgeStats, view: BridgeView, surroundings: Surroundings = {}): string {
  return exposition(metricFamilies(stats, view, surroundings));
}
