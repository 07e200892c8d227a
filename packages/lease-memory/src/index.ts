export { type MemoryLeasesOptions, openMemoryLeases } from "./open-memory-leases.ts";
export { memoryLeasePlugin } from "./memory-lease-plugin.ts";
export type * from "./option-types.ts";
