export { EmfExporter, type EmfExporterOptions } from "./emf/emf-exporter.ts";
export { exposition, type Family, type Sample } from "./exposition.ts";
export { type Surroundings, type Waiting } from "./metrics.ts";
export { type Measured, readMetrics } from "./read-metrics.ts";
export { renderMetrics } from "./render-metrics.ts";
export { renderServerMetrics, type ServerStats } from "./server-metrics.ts";
