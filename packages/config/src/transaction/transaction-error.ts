import { knownAcrossCopies } from "@bridge/ports/internal";
/** Why a transaction, or the configuration, cannot be had. */
export type TransactionErrorKind =
  /** There is no such transaction, or it has expired. */
  | "not_found"
  /** Another transaction is open, or this one is being committed. */
  | "conflict"
  /** There is no configuration to change, or it cannot be read. */
  | "unavailable"
  /** The store of the configuration lacks what it takes. */
  | "unsupported";

/**
 * - `probation`: a change is on probation.
 * - `no_probation`: none is, or another one.
 * - `reverted`: it was taken back.
 * - `not_running`: there is nothing to try a change out with.
 */
export type ConflictReason = "probation" | "no_probation" | "reverted" | "not_running";

/** The message is for operators and quotes no value. */
export class TransactionError extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "TransactionError" });
    knownAcrossCopies(this, "transaction-error");
  }

  readonly kind: TransactionErrorKind;
  /** Tells programs which of several causes it was. */
  readonly reason: ConflictReason | undefined;

  constructor(
    kind: TransactionErrorKind,
    message: string,
    { reason, ...options }: ErrorOptions & { readonly reason?: ConflictReason } = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.reason = reason;
  }
}
