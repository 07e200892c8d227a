import type { DeadLetterPosition, DeadLetterQuery } from "@bridge/ports";
import type { ErrorGroup } from "./error-groups.ts";
import type { Halted, HaltPolicy } from "./halt.ts";
import type { JobPlan } from "./job-plan.ts";
import type { StepState } from "./ramp.ts";

export type JobKind = "redrive" | "purge";

/**
 * Where a job stands.
 *
 * - `planned`: counted and sampled, nothing done.
 * - `running`: its owner works, or whoever can takes it.
 * - `waiting`: it cannot go on now; it goes on by itself.
 * - `paused`: an operator holds it. `halted`: it has stopped itself.
 * - `undoing`: a purge is being taken back.
 * - The others are over. `failed`: its document cannot be read.
 */
export const JOB_STATES = [
  "planned",
  "running",
  "waiting",
  "paused",
  "halted",
  "undoing",
  "completed",
  "cancelled",
  "failed",
  "expired",
  "undone",
] as const;

export type JobState = (typeof JOB_STATES)[number];

/** Of a job that is not over. */
export const ACTIVE_STATES: readonly JobState[] = ["planned", "running", "waiting", "paused", "halted", "undoing"];
export const ENDED_STATES: readonly JobState[] = JOB_STATES.filter((state) => !ACTIVE_STATES.includes(state));

/** What may be changed while it runs. */
export interface JobSettings {
  /** Entries a second. */
  readonly rate: number;
  readonly concurrency: number;
  /** Sizes of the first steps, ascending; after them comes the rest. */
  readonly ramp: readonly number[];
  /** After a step has settled, before the next one. */
  readonly rampPauseMs: number;
  readonly halt: HaltPolicy;
}

/** What has become of the entries. `failed` counts the current try, so that what is done is never more than there is. */
export interface JobCounts {
  readonly succeeded: number;
  readonly failed: number;
  /** They were gone when their turn came, or marked since the plan. */
  readonly skipped: number;
  /** May have been sent twice, under one envelope id: in flight when their owner was killed. */
  readonly inDoubt: number;
  /** Taken back by an undo: they were not there and are again. */
  readonly restored: number;
  /** Of an undo: were there again already, and have got the marks of the purged ones. Absent: none. */
  readonly present?: number | undefined;
  /** Of an undo: were neither in the trash nor brought back by what is known. Absent: none. */
  readonly gone?: number | undefined;
}

/** The entries of one route. */
export interface JobLane {
  readonly routeId: string;
  readonly total: number;
  readonly done: number;
  /** Of those that are done: in the current try. */
  readonly failed: number;
  /** Everything up to here is settled. Absent: nothing is. */
  readonly cursor?: DeadLetterPosition | undefined;
  /** Nothing of it is left. */
  readonly ended: boolean;
  /** Why it does not go on. */
  readonly waitingFor?: string | undefined;
}

/** What operators ask of a job. */
export type JobCall = "start" | "pause" | "resume" | "cancel" | "undo" | "change";

/** What was asked of a job that somebody works on, until that one has obeyed. */
export interface JobRequest {
  readonly call: Exclude<JobCall, "start" | "change">;
  readonly retryFailed?: true | undefined;
}

/** Who works on a job. */
interface HeldBy {
  readonly instanceId: string;
  /** Tells this process from all others. */
  readonly holder: string;
  /** The revision that it wrote last: its sign of life. Whoever else writes the job leaves it. */
  readonly beat: number;
}

/** A job: what its document holds. Times are epoch milliseconds. */
export interface Job {
  readonly id: string;
  readonly kind: JobKind;
  readonly state: JobState;
  readonly requested?: JobRequest | undefined;
  readonly actor: string;
  readonly reason: string;
  /** Entries that failed at or after it are not in the set. */
  readonly createdAt: number;
  /** As it was asked for. */
  readonly query: DeadLetterQuery;
  readonly limit?: number | undefined;
  /** With a limit: the last entry that it lets in. */
  readonly until?: DeadLetterPosition | undefined;
  /** Where all entries go, instead of the binding that failed. */
  readonly bindingId?: string | undefined;
  /** Of a purge: how long it can be taken back. */
  readonly undoWithinMs?: number | undefined;
  /** Of one that has started: until when. Absent: what is purged is erased at once. */
  readonly undoUntil?: number | undefined;
  readonly settings: JobSettings;
  readonly plan: JobPlan;
  /** Digests of the key under which it was asked for, and of what was asked. */
  readonly asked?: { readonly key: string; readonly body: string } | undefined;
  readonly owner?: HeldBy | undefined;
  readonly startedAt?: number | undefined;
  readonly updatedAt: number;
  readonly endedAt?: number | undefined;
  readonly waitingFor?: string | undefined;
  readonly halted?: Halted | undefined;
  /** Counts `retry_failed`, from 1. */
  readonly attempt: number;
  readonly total: number;
  readonly counts: JobCounts;
  /** Entries that their outbox has not delivered yet. */
  readonly pending: readonly string[];
  /** Entries that have failed and are counted, though the cursor of their lane has not passed them. */
  readonly ahead: readonly string[];
  readonly inFlight: number;
  /** So many may be in flight as far as its owner has written; whoever changes `settings` leaves it. */
  readonly mostInFlight: number;
  /** Entries a second, of late. */
  readonly pace: number;
  readonly step: StepState;
  readonly lanes: readonly JobLane[];
  /** An owner is gone, and may have delivered or erased entries that are counted nowhere. Absent: all is counted. */
  readonly uncounted?: true | undefined;
  /** Of a purge, which goes through all routes in one row. */
  readonly cursor?: DeadLetterPosition | undefined;
  /** Of a purge: entries that are counted because they are in the trash, though no page that the cursor has passed has shown them. Absent: none. */
  readonly movedAhead?: number | undefined;
  /** Of an undo: how many entries there were to be taken back, as it began. */
  readonly toRestore?: number | undefined;
  readonly errors: readonly ErrorGroup[];
  /** Only of one that is shown: it stands like this at its owner here, whose store does not take or tell it. */
  readonly unstored?: true | undefined;
}

export function isOver(state: JobState): boolean {
  return ENDED_STATES.includes(state);
}

/** How many entries have an outcome. */
export function doneOf({ succeeded, failed, skipped }: JobCounts): number {
  return succeeded + failed + skipped;
}
