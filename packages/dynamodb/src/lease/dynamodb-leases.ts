import { type LeaseStoreAdapter, storeAdapter } from "@bridge/ports";
import { dynamodbLeasePlugin } from "./dynamodb-lease-plugin.ts";
import type { DynamodbLeaseStoreOptions } from "./option-types.ts";

/** The lease store `dynamodb`, for definitions in code and for registries. */
export const dynamodbLeases: LeaseStoreAdapter<DynamodbLeaseStoreOptions> = storeAdapter(dynamodbLeasePlugin);
