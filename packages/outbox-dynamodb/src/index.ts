export { dynamodbOutboxPlugin } from "./dynamodb-outbox-plugin.ts";
export { type DynamodbOutboxOptions, openDynamodbOutbox } from "./open-dynamodb-outbox.ts";
export { outboxTable } from "./outbox-table.ts";
export { dynamodbOutbox } from "./dynamodb-outbox.ts";
export type * from "./option-types.ts";
