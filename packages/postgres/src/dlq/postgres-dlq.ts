import { type DlqStoreAdapter, storeAdapter } from "@bridge/ports";
import { postgresDlqPlugin } from "./postgres-dlq-plugin.ts";
import type { PostgresDlqStoreOptions } from "./option-types.ts";

/** The DLQ store `postgres`, for definitions in code and for registries. */
export const postgresDlq: DlqStoreAdapter<PostgresDlqStoreOptions> = storeAdapter(postgresDlqPlugin);
