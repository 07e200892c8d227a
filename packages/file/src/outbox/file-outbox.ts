import { type OutboxStoreAdapter, storeAdapter } from "@bridge/ports";
import { fileOutboxPlugin } from "./file-outbox-plugin.ts";
import type { FileOutboxStoreOptions } from "./option-types.ts";

/** The outbox store `file`, for definitions in code and for registries. */
export const fileOutbox: OutboxStoreAdapter<FileOutboxStoreOptions> = storeAdapter(fileOutboxPlugin);
