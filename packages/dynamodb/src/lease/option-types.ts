/**
 * What programs may write, and what each key means: made from the schemas that check it. Not edited by hand. @module
 */

/** Options of the lease store `dynamodb`. */
export interface DynamodbLeaseStoreOptions {
  /** The table, created by `bridge-aws -create-tables`. Bridges of different ids may share one. */
  readonly table_name: string;
}
