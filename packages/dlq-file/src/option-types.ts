/**
 * What programs may write, and what each key means: made from the schemas that check it. Not edited by hand. @module
 */

/** Options of the dlq store `file`. */
export interface FileDlqStoreOptions {
  /** The file. A relative path starts at the working directory; the folder is made if missing. */
  readonly path: string;
  /** The size from which further writes fail, until entries are redriven or deleted. Default: no limit. */
  readonly max_bytes?: number | undefined;
  /** Entries that failed longer ago than this are deleted. Default: they are kept. */
  readonly retention?: string | undefined;
}
