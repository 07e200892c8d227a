import { knownAcrossCopies } from "./known-across-copies.ts";

/** What the engine does with a failed message; the only thing it looks at (spec 7.3). */
export const ERROR_CLASSES = ["transient", "permanent", "rejected", "expired", "filtered"] as const;

export type ErrorClass = (typeof ERROR_CLASSES)[number];

/** Every code the bridge raises, with its class (spec 7.3; contract §5). */
export const ERROR_CODES = {
  TIMEOUT: "transient",
  CONNECTION_LOST: "transient",
  UNAVAILABLE: "transient",
  THROTTLED: "transient",
  /** An error that no adapter classified: it is retried rather than lost. */
  INTERNAL: "transient",
  INVALID_PAYLOAD: "rejected",
  PAYLOAD_TOO_LARGE: "rejected",
  SCHEMA_VIOLATION: "rejected",
  REJECTED: "rejected",
  ID_CONFLICT: "rejected",
  /** It came for a subscription that nobody has any more. */
  UNROUTED: "rejected",
  NOT_AUTHORIZED: "permanent",
  FORBIDDEN: "permanent",
  DESTINATION_NOT_FOUND: "permanent",
  BINDING_UNRESOLVED: "permanent",
  MESSAGE_EXPIRED: "expired",
  MESSAGE_FILTERED: "filtered",
} as const satisfies Record<string, ErrorClass>;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface BridgeErrorOptions extends ErrorOptions {
  /** The target asks not to be tried again before this many milliseconds; raises the next retry delay, to five minutes at most. */
  readonly retryAfterMs?: number | undefined;
  /** `false` when nothing was tried, so that the failure is not charged to the replay cap. Default `true`. */
  readonly charged?: boolean | undefined;
}

/**
 * Why one message could not be handled. It has no stack, only a cause that may have one. Adapters translate their library's errors into this, at their edge.
 *
 * The message is shown to operators and kept on DLQ entries: it never holds a payload, a header value or a secret.
 */
export class BridgeError extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "BridgeError" });
    knownAcrossCopies(this, "error");
  }

  readonly code: ErrorCode;
  readonly retryAfterMs: number | undefined;
  readonly charged: boolean;

  constructor(code: ErrorCode, message: string, options?: BridgeErrorOptions) {
    // Frames keep alive all that their functions can reach, for as long as the error is kept: a whole configuration, when it
    // ended a session. They also cost ten times as much as the error. Where nobody may change the limit, they are there.
    const limit = Error.stackTraceLimit;
    Reflect.set(Error, "stackTraceLimit", 0);
    super(message, options);
    Reflect.set(Error, "stackTraceLimit", limit);
    this.code = code;
    this.retryAfterMs = options?.retryAfterMs;
    this.charged = options?.charged ?? true;
  }

  get class(): ErrorClass {
    return ERROR_CODES[this.code];
  }

  /** Total: also of what throws when it is looked at. */
  static is(value: unknown): value is BridgeError {
    return value instanceof BridgeError;
  }

  /** Total: anything thrown becomes a BridgeError. What nobody classified is `INTERNAL`. */
  static from(thrown: unknown): BridgeError {
    try {
      if (BridgeError.is(thrown)) return isSound(thrown) ? thrown : remade(thrown);
      return new BridgeError("INTERNAL", thrown instanceof Error ? thrown.message : String(thrown), {
        cause: thrown,
      });
    } catch {
      return new BridgeError("INTERNAL", "something was thrown that cannot be read");
    }
  }
}

/** Whether it is as its constructor makes it: one of another copy of this package, or of nobody's, may not be. */
function isSound({ code, message, retryAfterMs, charged }: BridgeError): boolean {
  return (
    Object.hasOwn(ERROR_CODES, code) &&
    typeof message === "string" &&
    typeof charged === "boolean" &&
    (retryAfterMs === undefined || (typeof retryAfterMs === "number" && retryAfterMs >= 0))
  );
}

/** The same with what can be used of it: a pause that is no number would be none, for ever. */
function remade(cause: BridgeError): BridgeError {
  const code = Object.hasOwn(ERROR_CODES, cause.code) ? cause.code : "INTERNAL";
  const charged: unknown = cause.charged;
  return new BridgeError(code, cause.message, { cause, charged: charged !== false });
}
