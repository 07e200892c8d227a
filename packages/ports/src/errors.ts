/** What the engine does with a failed message; the only thing it looks at (spec 7.3). */
export type ErrorClass = "transient" | "permanent" | "rejected" | "expired" | "filtered";

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
  NOT_AUTHORIZED: "permanent",
  FORBIDDEN: "permanent",
  DESTINATION_NOT_FOUND: "permanent",
  BINDING_UNRESOLVED: "permanent",
  MESSAGE_EXPIRED: "expired",
  MESSAGE_FILTERED: "filtered",
} as const satisfies Record<string, ErrorClass>;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface BridgeErrorOptions extends ErrorOptions {
  /** The target asks not to be tried again before this many milliseconds; raises the next retry delay. */
  readonly retryAfterMs?: number | undefined;
  /** `false` when nothing was tried, so that the failure is not charged to the replay cap. Default `true`. */
  readonly charged?: boolean | undefined;
}

// Two copies of this package may be loaded at once, so identity is a registered symbol, not the prototype.
const BRAND = Symbol.for("@bridge/error");

/**
 * Why one message could not be handled. Adapters translate their library's errors into this, at their edge.
 *
 * The message is shown to operators and kept on DLQ entries: it never holds a payload, a header value or a secret.
 */
export class BridgeError extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "BridgeError" });
    Object.defineProperty(this.prototype, BRAND, { value: true });
  }

  readonly code: ErrorCode;
  readonly retryAfterMs: number | undefined;
  readonly charged: boolean;

  constructor(code: ErrorCode, message: string, options?: BridgeErrorOptions) {
    super(message, options);
    this.code = code;
    this.retryAfterMs = options?.retryAfterMs;
    this.charged = options?.charged ?? true;
  }

  get class(): ErrorClass {
    return ERROR_CODES[this.code];
  }

  static is(value: unknown): value is BridgeError {
    return typeof value === "object" && value !== null && BRAND in value;
  }

  /** Total: anything thrown becomes a BridgeError. What nobody classified is `INTERNAL`. */
  static from(thrown: unknown): BridgeError {
    if (BridgeError.is(thrown)) return thrown;
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return new BridgeError("INTERNAL", message, { cause: thrown });
  }
}
