/**
 * Where a configuration transaction stands (spec 3.6). Only an open one can be changed; one that has ended is
 * forgotten.
 */
export type TransactionState =
  | { readonly kind: "open" }
  /** Being checked, written and applied; nobody else may touch it. */
  | { readonly kind: "committing" }
  | { readonly kind: "ended"; readonly as: TransactionEnd };

const ENDS = [
  "committed",
  "committed_applying",
  /** It runs, and is taken back unless it is confirmed. */
  "probation",
  "rolled_back",
  "committed_not_applied",
  /** What is stored moved since the transaction was opened, or cannot be written to; nothing was written. */
  "conflict",
  /** By whoever opened it. */
  "discarded",
  "expired",
] as const;
type TransactionEnd = (typeof ENDS)[number];

/** What can become of a transaction; after `refused` it is still open. */
export const TRANSACTION_OUTCOMES = [...ENDS, "refused"] as const;
export type TransactionOutcome = (typeof TRANSACTION_OUTCOMES)[number];

export type TransactionEvent =
  | "patch"
  | "commit"
  /** The commit found the pending configuration wanting: the transaction stays open for another edit. */
  | "refused"
  | TransactionEnd;

const WHILE_OPEN: Readonly<Partial<Record<TransactionEvent, TransactionState>>> = {
  patch: { kind: "open" },
  commit: { kind: "committing" },
  discarded: { kind: "ended", as: "discarded" },
  expired: { kind: "ended", as: "expired" },
};

const WHILE_COMMITTING: Readonly<Partial<Record<TransactionEvent, TransactionState>>> = {
  refused: { kind: "open" },
  committed: { kind: "ended", as: "committed" },
  committed_applying: { kind: "ended", as: "committed_applying" },
  probation: { kind: "ended", as: "probation" },
  rolled_back: { kind: "ended", as: "rolled_back" },
  committed_not_applied: { kind: "ended", as: "committed_not_applied" },
  conflict: { kind: "ended", as: "conflict" },
};

/** The state after `event`; `undefined` when the state does not allow it. */
export function nextState(state: TransactionState, event: TransactionEvent): TransactionState | undefined {
  if (state.kind === "ended") return undefined;
  return (state.kind === "open" ? WHILE_OPEN : WHILE_COMMITTING)[event];
}
