import { ACTIVE_STATES, type JobKind, type JobState } from "./job.ts";
import type { HaltWhy } from "./halt.ts";

export const JOB_OUTCOMES = ["succeeded", "failed", "skipped", "in_doubt", "restored", "present"] as const;

export type JobOutcome = (typeof JOB_OUTCOMES)[number];

/** What jobs have come to at this process; it only grows, but for `jobs`. */
export interface JobStats {
  /** Jobs that are not over, as this process last saw them. */
  readonly jobs: readonly { readonly kind: JobKind; readonly state: JobState; readonly count: number }[];
  readonly entries: readonly { readonly kind: JobKind; readonly outcome: JobOutcome; readonly count: number }[];
  readonly halts: readonly { readonly why: HaltWhy; readonly count: number }[];
  readonly adoptions: number;
  /** Entries in the trash, as last counted; absent while the store has none. */
  readonly trashEntries?: number | undefined;
}

const KINDS: readonly JobKind[] = ["redrive", "purge"];

/** Of every kind and state, so that whoever reads them sees a state begin. */
function countsOf(jobs: readonly { readonly kind: JobKind; readonly state: JobState }[]): JobStats["jobs"] {
  return KINDS.flatMap((kind) =>
    ACTIVE_STATES.map((state) => ({
      kind,
      state,
      count: jobs.filter((job) => job.kind === kind && job.state === state).length,
    })),
  );
}

/** Plain numbers, because every entry writes to them. */
export class JobTallies {
  readonly #entries: Record<JobKind, Record<JobOutcome, number>> = {
    redrive: { succeeded: 0, failed: 0, skipped: 0, in_doubt: 0, restored: 0, present: 0 },
    purge: { succeeded: 0, failed: 0, skipped: 0, in_doubt: 0, restored: 0, present: 0 },
  };
  readonly #halts: Record<HaltWhy, number> = { failure_ratio: 0, consecutive: 0, store: 0 };
  #jobs: JobStats["jobs"] = countsOf([]);
  adoptions = 0;
  trashEntries: number | undefined;

  add(kind: JobKind, outcome: JobOutcome, count: number): void {
    this.#entries[kind][outcome] += count;
  }

  halted(why: HaltWhy): void {
    this.#halts[why]++;
  }

  /** All that are not over. */
  seen(jobs: readonly { readonly kind: JobKind; readonly state: JobState }[]): void {
    this.#jobs = countsOf(jobs);
  }

  read(): JobStats {
    const kinds = Object.entries(this.#entries) as [JobKind, Record<JobOutcome, number>][];
    return {
      jobs: this.#jobs,
      entries: kinds.flatMap(([kind, counts]) =>
        JOB_OUTCOMES.map((outcome) => ({ kind, outcome, count: counts[outcome] })),
      ),
      halts: (Object.entries(this.#halts) as [HaltWhy, number][]).map(([why, count]) => ({ why, count })),
      adoptions: this.adoptions,
      ...(this.trashEntries !== undefined && { trashEntries: this.trashEntries }),
    };
  }
}
