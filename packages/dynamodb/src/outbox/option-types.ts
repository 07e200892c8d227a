/**
 * What programs may write, and what each key means: made from the schemas that check it. Not edited by hand. @module
 */

/** Options of the outbox store `dynamodb`. */
export interface DynamodbOutboxStoreOptions {
  /** The table; region, endpoint and credentials are those of the AWS SDK. */
  readonly table_name: string;
  /** How long finished records are kept, so that duplicates are recognized. Default: 1h. */
  readonly retention?: string | undefined;
}
