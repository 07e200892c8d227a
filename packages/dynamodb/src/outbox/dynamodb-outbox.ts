import { type OutboxStoreAdapter, storeAdapter } from "@bridge/ports";
import { dynamodbOutboxPlugin } from "./dynamodb-outbox-plugin.ts";
import type { DynamodbOutboxStoreOptions } from "./option-types.ts";

/** The outbox store `dynamodb`, for definitions in code and for registries. */
export const dynamodbOutbox: OutboxStoreAdapter<DynamodbOutboxStoreOptions> = storeAdapter(dynamodbOutboxPlugin);
