import { type OutboxStoreAdapter, storeAdapter } from "@bridge/ports";
import { postgresOutboxPlugin } from "./postgres-outbox-plugin.ts";
import type { PostgresOutboxStoreOptions } from "./option-types.ts";

/** The outbox store `postgres`, for definitions in code and for registries. */
export const postgresOutbox: OutboxStoreAdapter<PostgresOutboxStoreOptions> = storeAdapter(postgresOutboxPlugin);
