export { createTable, type CreatedTable } from "./client/create-table.ts";
export { DynamoClient, type DynamoOptions } from "./client/dynamo-client.ts";
export {
  type KeyAttribute,
  type TableDescription,
  type TableIndex,
  type TableKey,
  tableName,
} from "./client/table-description.ts";
export { configTable } from "./config/config-table.ts";
export { type DynamodbConfigOptions, openDynamodbConfig } from "./config/open-dynamodb-config.ts";
export { dynamodbLeases } from "./lease/dynamodb-leases.ts";
export { leaseTable } from "./lease/lease-table.ts";
export { type DynamodbLeasesOptions, openDynamodbLeases } from "./lease/open-dynamodb-leases.ts";
export type * from "./lease/option-types.ts";
export { dynamodbOutbox } from "./outbox/dynamodb-outbox.ts";
export { type DynamodbOutboxOptions, openDynamodbOutbox } from "./outbox/open-dynamodb-outbox.ts";
export { outboxTable } from "./outbox/outbox-table.ts";
export type * from "./outbox/option-types.ts";
