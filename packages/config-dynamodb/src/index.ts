export { configTable } from "./config-table.ts";
export { type DynamodbConfigOptions, openDynamodbConfig } from "./open-dynamodb-config.ts";
