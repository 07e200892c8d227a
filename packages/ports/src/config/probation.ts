import type { StorePlaces } from "./stored-config.ts";

/** A document that runs and is taken back unless somebody confirms it. */
export interface Probation {
  readonly version: number;
  /** What comes back. */
  readonly formerVersion: number;
  /** Epoch milliseconds: until when it has to be confirmed. */
  readonly confirmBy: number;
  /** How long that was when it began: whatever a clock says, never more is left of it. Absent: it was noted without. */
  readonly withinMs?: number;
  /** The name of the admin key that committed it. */
  readonly actor: string;
  readonly guard?: ProbationGuard;
  /** Whose sends the guard counts. */
  readonly routes: readonly string[];
  /** Where the process that tries it out has the stores of both documents. Absent: it was noted without. */
  readonly places?: { readonly tried: StorePlaces; readonly former: StorePlaces };
  /** It was taken back, and nothing waited in its stores any more when the former one was in force again: there is nothing to tell of them. */
  readonly emptied?: true;
}

/** What ends a {@link Probation} before its time. */
export interface ProbationGuard {
  /** The readiness level that is to be held, such as `full`. Absent: none. */
  readonly level?: string;
  /** How long on end it may be missed. */
  readonly levelForMs?: number;
  /** Of the sends of the routes that the change has restarted or added: how many of them may fail, 0 to 1. Absent: any. */
  readonly failureRatio?: number;
  /** Before so many sends nothing is said of their failures. */
  readonly minSends?: number;
}

/** Why a document was taken back. */
export interface Reversal {
  /** `not_confirmed`, `level`, `failure_ratio`, `operator` or `process_ended`. */
  readonly why: string;
  /** For people: such as `12 of 96 sends failed`, or what the operator has said. */
  readonly detail?: string;
}
