/**
 * Why a request of an operator was refused.
 *
 * - `unavailable`: no runtime runs.
 * - `not_found`: the thing that it names does not exist.
 * - `conflict`: the bridge is not in a state to do it.
 */
export type OperationErrorKind = "unavailable" | "not_found" | "conflict";

export class OperationError extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "OperationError" });
  }

  readonly kind: OperationErrorKind;

  constructor(kind: OperationErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
