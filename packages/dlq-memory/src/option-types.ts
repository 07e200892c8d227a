/**
 * What programs may write, and what each key means: made from the schemas that check it. Not edited by hand. @module
 */

/** Options of the dlq store `memory`. */
export interface MemoryDlqStoreOptions {
  /** Must be true: you accept that a restart loses all entries. */
  readonly acknowledge_volatile: true;
  /** The most entries, including those that a purge can still give back. At this number further writes fail until some are redriven or deleted. Default: 100000. */
  readonly max_entries?: number | undefined;
}
