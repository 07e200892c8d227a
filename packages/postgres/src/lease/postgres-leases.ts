import { type LeaseStoreAdapter, storeAdapter } from "@bridge/ports";
import { postgresLeasePlugin } from "./postgres-lease-plugin.ts";
import type { PostgresLeaseStoreOptions } from "./option-types.ts";

/** The lease store `postgres`, for definitions in code and for registries. */
export const postgresLeases: LeaseStoreAdapter<PostgresLeaseStoreOptions> = storeAdapter(postgresLeasePlugin);
