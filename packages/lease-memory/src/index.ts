export { type MemoryLeasesOptions, openMemoryLeases } from "./open-memory-leases.ts";
export { memoryLeasePlugin } from "./memory-lease-plugin.ts";
export { memoryLeases } from "./memory-leases.ts";
export type * from "./option-types.ts";
