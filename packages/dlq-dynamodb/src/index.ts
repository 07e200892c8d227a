export { dlqTable } from "./dlq-table.ts";
export { type DynamodbDlqOptions, openDynamodbDlq } from "./open-dynamodb-dlq.ts";
export { dynamodbDlq } from "./dynamodb-dlq.ts";
export type * from "./option-types.ts";
