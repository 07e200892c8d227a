import { type DlqStoreAdapter, storeAdapter } from "@bridge/ports";
import { memoryDlqPlugin } from "./memory-dlq-plugin.ts";
import type { MemoryDlqStoreOptions } from "./option-types.ts";

/** The DLQ store `memory`, for definitions in code and for registries. */
export const memoryDlq: DlqStoreAdapter<MemoryDlqStoreOptions> = storeAdapter(memoryDlqPlugin);
