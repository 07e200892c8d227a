export { type HostProcess } from "./host-process.ts";
export { type BridgeApp, runBridge } from "./run-bridge.ts";
export { type ShutdownBudgets } from "./shut-down.ts";
