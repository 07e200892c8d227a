export { openOtlp, type OtlpExport, type OtlpOptions } from "./open-otlp.ts";
export { type Exporting } from "./resource.ts";
export { type Environment } from "./settings.ts";
