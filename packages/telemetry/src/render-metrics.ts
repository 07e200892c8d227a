import type { BridgeStats, BridgeView } from "@bridge/core";
import { exposition } from "./exposition.ts";
import { METRICS, type Surroundings } from "./metrics.ts";

/**
 * The bridge's counters and gauges as Prometheus text (format 0.0.4). Pure: reads what it is given, keeps nothing.
 * Every metric is named with its help and type, even when it has no sample yet.
 */
export function renderMetrics(stats: BridgeStats, view: BridgeView, surroundings: Surroundings = {}): string {
  return exposition(
    METRICS.map(({ name, type, help, read }) => ({ name, type, help, samples: read(stats, view, surroundings) })),
  );
}
