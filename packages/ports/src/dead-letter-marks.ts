import type { ErrorCode } from "./errors.ts";

/** What has been added to a dead letter since it was written. */
export interface DeadLetterMarks {
  readonly redrives?: RedriveMark | undefined;
  readonly assignee?: string | undefined;
  /** Kept back: it is not redriven. */
  readonly quarantined?: true | undefined;
  /** Oldest first. */
  readonly notes?: readonly DeadLetterNote[] | undefined;
}

/** What redrives that failed have left on the entry. Times are epoch milliseconds. */
export interface RedriveMark {
  readonly count: number;
  readonly lastAt: number;
  readonly lastCode: ErrorCode;
  readonly lastError: string;
  /** The job that has tried last, absent when it was none, and which try of it that was. */
  readonly jobId?: string | undefined;
  readonly jobTry?: number | undefined;
}

export interface DeadLetterNote {
  readonly at: number;
  readonly by: string;
  readonly text: string;
}

/** What is to be changed; what is absent stays. */
export interface MarkChange {
  readonly note?: DeadLetterNote | undefined;
  /** Empty: nobody. */
  readonly assignee?: string | undefined;
  readonly quarantined?: boolean | undefined;
  /** Counts one more redrive that failed. */
  readonly redriven?: Omit<RedriveMark, "count"> | undefined;
}

/** Notes that an entry keeps, the last ones. */
const MAX_NOTES = 20;
/** Of the marks of an entry, as JSON; the oldest notes go first. */
const MAX_BYTES = 8 * 1024;
const MAX_ERROR_LENGTH = 1_024;

/**
 * The marks of an entry after a change, within their bounds. `undefined`: none.
 * The same for every store, so that marks mean the same wherever they are kept.
 */
export function marked(marks: DeadLetterMarks | undefined, change: MarkChange): DeadLetterMarks | undefined {
  const { redriven } = change;
  const redrives =
    redriven === undefined
      ? marks?.redrives
      : {
          count: (marks?.redrives?.count ?? 0) + 1,
          ...redriven,
          lastError: redriven.lastError.slice(0, MAX_ERROR_LENGTH),
        };
  const assignee = change.assignee ?? marks?.assignee ?? "";
  const quarantined = change.quarantined ?? marks?.quarantined ?? false;
  const notes = [...(marks?.notes ?? []), ...(change.note === undefined ? [] : [change.note])].slice(-MAX_NOTES);
  const keeping = (kept: readonly DeadLetterNote[]): DeadLetterMarks => ({
    ...(redrives !== undefined && { redrives }),
    ...(assignee !== "" && { assignee }),
    ...(quarantined && { quarantined }),
    ...(kept.length > 0 && { notes: kept }),
  });
  let made = keeping(notes);
  while (notes.length > 0 && Buffer.byteLength(JSON.stringify(made)) > MAX_BYTES) {
    notes.shift();
    made = keeping(notes);
  }
  return Object.keys(made).length === 0 ? undefined : made;
}
