export { type Item, readBatch, writeBatch } from "./batches.ts";
export { type Consumed } from "./consumption.ts";
export { createTable, type CreatedTable } from "./create-table.ts";
export { type Command, type Conditional, DynamoClient, type DynamoOptions } from "./dynamo-client.ts";
export { openTable } from "./open-table.ts";
export {
  type KeyAttribute,
  type TableDescription,
  type TableIndex,
  type TableKey,
  tableName,
} from "./table-description.ts";
