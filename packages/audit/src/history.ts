import type { AuditEvent, AuditOutcome } from "./event.ts";

/** Which events; everything when it is empty. */
export interface AuditFilter {
  /** At or after; epoch milliseconds. */
  readonly since?: number | undefined;
  /** Before; epoch milliseconds. */
  readonly before?: number | undefined;
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly outcome?: AuditOutcome | undefined;
  readonly resourceId?: string | undefined;
}

/** A part of what a sink has kept, newest first. */
export interface AuditPage {
  readonly events: readonly AuditEvent[];
  /** Where to go on; absent at the end. A page may be short, even empty, and still have one. */
  readonly next?: string | undefined;
  /**
   * The number of the first record, from the newest on, that does not follow from the one before it, or says that some before it are
   * gone; that of the record written last when it is not there. Absent while all is well.
   */
  readonly breakAt?: number | undefined;
}

export interface AuditVerification {
  readonly records: number;
  /** The hash of the last record. */
  readonly head: string;
  /** The first place at which the records are not those that were written, or at which some are gone, in words; absent when all are there. */
  readonly problem?: string | undefined;
}

/** What a sink has kept, to be read again. */
export interface AuditHistory {
  /**
   * Reads a bounded number of bytes.
   * @throws RangeError when `cursor` is none that it has given
   */
  read(filter: AuditFilter, limit: number, cursor: string | undefined, signal: AbortSignal): Promise<AuditPage>;
  /** Holds everything that is there against its hashes. */
  verify(signal: AbortSignal): Promise<AuditVerification>;
}
