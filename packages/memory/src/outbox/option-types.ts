/**
 * What programs may write, and what each key means: made from the schemas that check it. Not edited by hand. @module
 */

/** Options of the outbox store `memory`. */
export interface MemoryOutboxStoreOptions {
  /** Must be true: you accept that a restart loses accepted messages. */
  readonly acknowledge_volatile: true;
  /** The most records. Finished ones make room for new ones; when none is finished, further messages wait at their source. Default: 100000. */
  readonly max_records?: number | undefined;
  /** How long finished records are kept, so that duplicates are recognized. Default: 1h. */
  readonly retention?: string | undefined;
}
