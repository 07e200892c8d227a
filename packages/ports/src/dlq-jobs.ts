/**
 * A job as its store keeps it. The document is the engine's. A store reads nothing of it, unless somebody else may change what it keeps:
 * then `undoUntil`, `undoWithinMs` and `endedAt` of a purge, in milliseconds, say how long its batch stays in the trash
 * ({@link DlqTrash}).
 */
export interface StoredJob {
  readonly id: string;
  /** Counts the writes, from 1. */
  readonly revision: number;
  readonly state: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** JSON, at most 64 KiB. Whatever a disk or somebody has made of it, which the engine finds out; empty where it is no text. */
  readonly document: string;
}

/** Jobs of a DLQ, as durable as its entries. One that is damaged is handed out all the same, so that it can be told. */
export interface DlqJobs {
  get(id: string, signal: AbortSignal): Promise<StoredJob | undefined>;
  /** Newest first: by `createdAt`, then by `id`, both falling. `states` absent: all. */
  list(
    request: { readonly states?: readonly string[] | undefined; readonly limit: number },
    signal: AbortSignal,
  ): Promise<readonly StoredJob[]>;
  /**
   * Writes the job under `job.revision`, if the kept one has `expectedRevision`; `undefined`: if there is none.
   * False: it has another one, nothing was written. A put whose answer was lost is told as true when it was written.
   */
  put(job: StoredJob, expectedRevision: number | undefined, signal: AbortSignal): Promise<boolean>;
  /** Ids that are not there are none to speak of. */
  delete(ids: readonly string[], signal: AbortSignal): Promise<void>;
}
