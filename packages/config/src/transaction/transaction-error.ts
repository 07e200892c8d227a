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

/** The message is for operators and quotes no value. */
export class TransactionError extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "TransactionError" });
    knownAcrossCopies(this, "transaction-error");
  }

  readonly kind: TransactionErrorKind;

  constructor(kind: TransactionErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
