import { OverlayError, TransactionError, type TransactionErrorKind } from "@bridge/config";
import { JobRefusal, type JobRefusalReason, OperationError, type OperationErrorKind, StopError } from "@bridge/core";
import { HttpError } from "@bridge/http-kit";
import { BridgeError } from "@bridge/ports";
import { joined, type Said } from "@bridge/ports/internal";

const STATUS = {
  unavailable: 503,
  not_found: 404,
  conflict: 409,
  stranding: 422,
  not_begun: 500,
  failed: 500,
  pending: 500,
} as const satisfies Record<OperationErrorKind, number>;

const TRANSACTION_STATUS = {
  not_found: 404,
  conflict: 409,
  unavailable: 503,
  unsupported: 404,
} as const satisfies Record<TransactionErrorKind, number>;

const REFUSAL_STATUS: Readonly<Partial<Record<JobRefusalReason, number>>> = { key_reused: 422, binding: 400 };

/** The answer to an error of the engine or a store; their messages are written for operators. */
export function toHttpError(error: unknown): HttpError | undefined {
  if (error instanceof OperationError) return new HttpError(STATUS[error.kind], error.message);
  if (error instanceof JobRefusal) return refusal(error);
  if (error instanceof TransactionError) {
    const { kind, message, reason } = error;
    return withReason(TRANSACTION_STATUS[kind], message, reason);
  }
  if (error instanceof OverlayError) return new HttpError(400, joined(["invalid request body: ", error.said]));
  if (error instanceof StopError) return new HttpError(500, error.message);
  if (BridgeError.is(error)) return new HttpError(500, error.message);
  return undefined;
}

/** Programs tell by the reason which of several causes of one status it was. */
export function withReason(status: number, said: Said, reason: string | undefined): HttpError {
  return new HttpError(status, said, {}, reason === undefined ? {} : { fields: { reason } });
}

function refusal({ reason, said }: JobRefusal): HttpError {
  const status = REFUSAL_STATUS[reason] ?? 409;
  return status === 400
    ? new HttpError(status, joined(["invalid request body: ", said]))
    : withReason(status, said, reason);
}
