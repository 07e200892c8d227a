export { renderMetrics } from "./render-metrics.ts";
