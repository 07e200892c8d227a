/** What other stores on DynamoDB have in common with these. Not part of what versions promise. @module */
export { type Item, readBatch, writeBatch } from "./client/batches.ts";
export { type Consumed } from "./client/consumption.ts";
export { type Command, type Conditional } from "./client/dynamo-client.ts";
export { openTable } from "./client/open-table.ts";
