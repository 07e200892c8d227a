import type { BridgeStats, BridgeView } from "@bridge/core";
import { exposition } from "./exposition.ts";
import { METRICS, type Waiting } from "./metrics.ts";

/**
 * The bridge's counters and gauges as Prometheus text (format 0.0.4). Pure: reads what it is given, keeps nothing.
 * `waiting` is what the outbox holds, where that is known.
 * Every metric is named with its help and type, even when it has no sample yet.
 */
export function renderMetrics(stats: BridgeStats, view: BridgeView, waiting?: readonly Waiting[]): string {
  return exposition(
    METRICS.map(({ name, type, help, read }) => ({ name, type, help, samples: read(stats, view, waiting) })),
  );
}
