export { type Surroundings, type Waiting } from "./metrics.ts";
export { renderMetrics } from "./render-metrics.ts";
export { renderServerMetrics, type ServerStats } from "./server-metrics.ts";
