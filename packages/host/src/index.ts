export { apiKeys } from "./api-keys.ts";
export { type Companion } from "./companion.ts";
export {
  type CheckedConfig,
  type ConfigOrigin,
  fileOrigin,
  type FileOriginOptions,
  storeOrigin,
} from "./config-origin.ts";
export { validateConfiguration } from "./configuration.ts";
export { type Ending } from "./exit-codes.ts";
export { type FlagsOf, type FlagTable, UsageError } from "./flag-table.ts";
export { type HostProcess } from "./host-process.ts";
export { type Overrule } from "./overrule.ts";
export { type BridgeApp, runBridge } from "./run-bridge.ts";
export { type Program, runProgram } from "./run-program.ts";
export { serveBridge } from "./serve-bridge.ts";
export { type Measurable, type ProcessParts, type ServeOptions, type Surroundings } from "./serve-options.ts";
export { RotatingKeys, type ServerKeys, serverKeys, warnOfSharedKey } from "./server-keys.ts";
export { type ShutdownBudgets } from "./shut-down.ts";
export { type OpenTelemetry, type TelemetryExport, type TelemetryRequest } from "./telemetry-export.ts";
