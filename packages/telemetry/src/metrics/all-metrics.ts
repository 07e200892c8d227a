import { AROUND_METRICS } from "./around-metrics.ts";
import { BRIDGE_METRICS } from "./bridge-metrics.ts";
import { CONFIG_METRICS } from "./config-metrics.ts";
import { DURATION_METRICS } from "./duration-metrics.ts";
import { JOB_METRICS } from "./job-metrics.ts";
import { LEG_METRICS } from "./leg-metrics.ts";
import type { Metric } from "./metric.ts";
import { ROUTE_METRICS } from "./route-metrics.ts";
import { SESSION_METRICS } from "./session-metrics.ts";
import { STORE_METRICS } from "./store-metrics.ts";

/** Every metric of the bridge, in the order in which they are told. */
export const METRICS: readonly Metric[] = [
  ...BRIDGE_METRICS,
  ...JOB_METRICS,
  ...CONFIG_METRICS,
  ...LEG_METRICS,
  ...DURATION_METRICS,
  ...ROUTE_METRICS,
  ...STORE_METRICS,
  ...SESSION_METRICS,
  ...AROUND_METRICS,
];
