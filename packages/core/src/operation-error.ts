import { knownAcrossCopies } from "@bridge/ports/internal";
/**
 * Why a request of an operator was not carried out.
 *
 * - `unavailable`: no runtime runs.
 * - `not_found`: the thing that it names does not exist.
 * - `conflict`: the bridge is not in a state to do it.
 * - `stranding`: it would leave messages behind.
 * - `not_begun`: it was given up before anything was sent or stored for it.
 * - `failed`: it was begun and could not be finished; the outcome is not known.
 * - `pending`: it is safe in the outbox and not delivered yet.
 */
export type OperationErrorKind =
  | "unavailable"
  | "not_found"
  | "conflict"
  | "stranding"
  | "not_begun"
  | "failed"
  | "pending";

/** A request of an operator that was not carried out; the message is for the operator. */
export class OperationError extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "OperationError" });
    knownAcrossCopies(this, "operation-error");
  }

  readonly kind: OperationErrorKind;

  constructor(kind: OperationErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
