import { type LeaseStoreAdapter, storeAdapter } from "@bridge/ports";
import { memoryLeasePlugin } from "./memory-lease-plugin.ts";
import type { MemoryLeaseStoreOptions } from "./option-types.ts";

/** The lease store `memory`, for definitions in code and for registries. */
export const memoryLeases: LeaseStoreAdapter<MemoryLeaseStoreOptions> = storeAdapter(memoryLeasePlugin);
