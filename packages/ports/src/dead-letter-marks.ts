import type { ErrorCode } from "./errors.ts";

/** What has been added to a dead letter since it was written. */
export interface DeadLetterMarks {
  readonly redrives?: RedriveMark | undefined;
  readonly assignee?: string | undefined;
  /** When it was last given to somebody else, or to nobody, in epoch milliseconds; absent when that is not known. */
  readonly assignedAt?: number | undefined;
  /** Kept back: it is not redriven. */
  readonly quarantined?: true | undefined;
  /** When it was last quarantined or let go, in epoch milliseconds; absent when that is not known. */
  readonly quarantinedAt?: number | undefined;
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
  /**
   * When `assignee` or `quarantined` is changed, in epoch milliseconds: a job leaves out what somebody has brought into its filter after
   * the plan. Default: that is not known, and a job that runs may take it.
   */
  readonly at?: number | undefined;
  readonly note?: DeadLetterNote | undefined;
  /** Empty: nobody. */
  readonly assignee?: string | undefined;
  readonly quarantined?: boolean | undefined;
  /** A redrive has failed. One try is one redrive, however often it is told of: of a fan-out, each leg that fails tells. */
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
          count: (marks?.redrives?.count ?? 0) + (isSameTry(marks?.redrives, redriven) ? 0 : 1),
          ...redriven,
          lastError: redriven.lastError.slice(0, MAX_ERROR_LENGTH),
        };
  const assignee = change.assignee ?? marks?.assignee ?? "";
  const quarantined = change.quarantined ?? marks?.quarantined ?? false;
  return bounded({
    redrives,
    assignee,
    assignedAt: assignee === (marks?.assignee ?? "") ? marks?.assignedAt : change.at,
    quarantined,
    quarantinedAt: quarantined === (marks?.quarantined ?? false) ? marks?.quarantinedAt : change.at,
    notes: [...(marks?.notes ?? []), ...(change.note === undefined ? [] : [change.note])],
  });
}

/**
 * The marks of an entry to which those of the same entry come back out of the trash, within their bounds: nothing that an operator has
 * written is lost. It is quarantined if either is; it has the notes of both, oldest first; it is its own assignee's, else the other's; and
 * it shows the redrive that was tried last. Merging once more adds nothing twice, so that what a crash repeats does no harm.
 */
export function mergedMarks(
  there: DeadLetterMarks | undefined,
  back: DeadLetterMarks | undefined,
): DeadLetterMarks | undefined {
  const [older, newer] = [back?.notes ?? [], there?.notes ?? []];
  const notes = [...older, ...newer.filter((note) => !older.some((other) => isSame(note, other)))];
  return bounded({
    redrives: lastOf(there?.redrives, back?.redrives),
    assignee: there?.assignee ?? back?.assignee,
    assignedAt: later(there?.assignedAt, back?.assignedAt),
    quarantined: there?.quarantined ?? back?.quarantined,
    quarantinedAt: later(there?.quarantinedAt, back?.quarantinedAt),
    notes: notes.toSorted((one, other) => one.at - other.at),
  });
}

type Tried = Pick<RedriveMark, "jobId" | "jobTry">;

interface Unbounded extends Omit<DeadLetterMarks, "quarantined" | "notes"> {
  readonly quarantined: boolean | undefined;
  readonly notes: readonly DeadLetterNote[];
}

function bounded({ redrives, assignee = "", quarantined = false, ...all }: Unbounded): DeadLetterMarks | undefined {
  const { assignedAt, quarantinedAt } = all;
  const notes = all.notes.slice(-MAX_NOTES);
  const keeping = (kept: readonly DeadLetterNote[]): DeadLetterMarks => ({
    ...(redrives !== undefined && { redrives }),
    ...(assignee !== "" && { assignee }),
    ...(assignedAt !== undefined && { assignedAt }),
    ...(quarantined && { quarantined }),
    ...(quarantinedAt !== undefined && { quarantinedAt }),
    ...(kept.length > 0 && { notes: kept }),
  });
  let made = keeping(notes);
  while (notes.length > 0 && Buffer.byteLength(JSON.stringify(made)) > MAX_BYTES) {
    notes.shift();
    made = keeping(notes);
  }
  return Object.keys(made).length === 0 ? undefined : made;
}

function isSame(one: DeadLetterNote, other: DeadLetterNote): boolean {
  return one.at === other.at && one.by === other.by && one.text === other.text;
}

function isSameTry(one: Tried | undefined, other: Tried): boolean {
  return one?.jobTry !== undefined && one.jobTry === other.jobTry && one.jobId === other.jobId;
}

function later(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

/** The one that was tried last, with the larger count. */
function lastOf(one: RedriveMark | undefined, other: RedriveMark | undefined): RedriveMark | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return { ...(other.lastAt > one.lastAt ? other : one), count: Math.max(one.count, other.count) };
}
