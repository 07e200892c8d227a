/**
 * What programs may write, and what each key means: made from the schemas that check it. Not edited by hand. @module
 */

/** Options of the dlq store `dynamodb`. */
export interface DynamodbDlqStoreOptions {
  /** The table, created by `bridge-aws -create-tables`. One for each bridge: its instances share it. */
  readonly table_name: string;
  /** Entries that failed longer ago than this are no longer found. Default: they are kept. */
  readonly retention?: string | undefined;
}
