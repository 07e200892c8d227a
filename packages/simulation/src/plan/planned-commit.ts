import type { ProbationGuard } from "@bridge/ports";
import type { Habits } from "./plan.ts";
import type { Change } from "./change.ts";

/** Of what keeps the document. */
export interface DocumentHabits extends Habits {
  /** A table that instances share, or a file beside the only one. */
  readonly shared: boolean;
}

/** A change of the document as an operator commits it. */
export interface PlannedCommit {
  readonly change: Change;
  /** It is tried out. Default: it is there to stay. */
  readonly trial?: {
    readonly withinMs: number;
    readonly guard?: ProbationGuard;
    /** What he does then, if anything. */
    readonly next: "confirm" | "revert" | "nothing";
    readonly afterMs: number;
  };
}
