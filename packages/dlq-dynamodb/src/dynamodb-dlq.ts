import { type DlqStoreAdapter, storeAdapter } from "@bridge/ports";
import { dynamodbDlqPlugin } from "./dynamodb-dlq-plugin.ts";
import type { DynamodbDlqStoreOptions } from "./option-types.ts";

/** The DLQ store `dynamodb`, for definitions in code and for registries. */
export const dynamodbDlq: DlqStoreAdapter<DynamodbDlqStoreOptions> = storeAdapter(dynamodbDlqPlugin);
