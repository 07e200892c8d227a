import { type OutboxStoreAdapter, storeAdapter } from "@bridge/ports";
import { memoryOutboxPlugin } from "./memory-outbox-plugin.ts";
import type { MemoryOutboxStoreOptions } from "./option-types.ts";

/** The outbox store `memory`, for definitions in code and for registries. */
export const memoryOutbox: OutboxStoreAdapter<MemoryOutboxStoreOptions> = storeAdapter(memoryOutboxPlugin);
