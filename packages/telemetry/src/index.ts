export { EmfExporter, type EmfExporterOptions } from "./emf/emf-exporter.ts";
export { exposition } from "./exposition.ts";
export { type Family, type HistogramFamily, type HistogramSample, type NumberFamily, type Sample } from "./family.ts";
export { type ConfigChanges } from "./metrics/config-metrics.ts";
export { type Surroundings, type Waiting } from "./metrics/metric.ts";
export { ProcessFigures } from "./process/process-figures.ts";
export { type Measured, readMetrics } from "./read-metrics.ts";
export { renderMetrics } from "./render-metrics.ts";
export { renderServerMetrics, type ServerStats } from "./server-metrics.ts";
