/**
 * What programs may write, and what each key means: made from the schemas that check it. Not edited by hand. @module
 */

/** Options of the outbox store `file`. */
export interface FileOutboxStoreOptions {
  /** The file. A relative path starts at the working directory; the folder is made if missing. */
  readonly path: string;
  /** How long delivered records are remembered, so that a repeat of their message is recognized. Default: 1h. */
  readonly retention?: string | undefined;
  /** The size from which new records are refused, until some are delivered. Default: no limit. */
  readonly max_bytes?: number | undefined;
  /** What to do with a damaged file: refuse to start, or set it aside, with what was not delivered, and begin a new one. Default: refuse. */
  readonly on_corrupt?: "refuse" | "quarantine" | undefined;
}
