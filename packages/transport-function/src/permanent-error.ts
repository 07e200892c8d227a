import { BridgeError, ERROR_CODES, type ErrorCode } from "@bridge/ports";
import { kindOf, knownAcrossCopies } from "@bridge/ports/internal";

type CodeOf<Class> = { [Code in ErrorCode]: (typeof ERROR_CODES)[Code] extends Class ? Code : never }[ErrorCode];

/** The error codes of failures that another attempt would not mend. */
export type PermanentCode = CodeOf<"permanent" | "rejected">;

/**
 * Thrown by a handler for a message that it will never take: it is not tried again, and goes by the route's
 * `on_permanent_failure`. Operators read the message: it holds no payload and no secret.
 *
 * @example
 * throw new PermanentError("REJECTED", "the order is closed");
 */
export class PermanentError extends BridgeError {
  static {
    Object.defineProperty(this.prototype, "name", { value: "PermanentError" });
    knownAcrossCopies(this, "permanent-error");
  }

  /** @throws TypeError when `code` is none of a permanent failure */
  constructor(code: PermanentCode, message: string, options?: ErrorOptions) {
    super(permanent(code), message, options);
  }
}

function permanent(code: PermanentCode): PermanentCode {
  if (isPermanent(code)) return code;
  const codes = Object.keys(ERROR_CODES).filter(isPermanent);
  throw new TypeError(
    `code of a PermanentError is ${shown(code)}: use one of ${codes.join(", ")}, or throw another error to have the message tried again`,
  );
}

function isPermanent(code: unknown): boolean {
  if (typeof code !== "string" || !Object.hasOwn(ERROR_CODES, code)) return false;
  const { [code as ErrorCode]: of } = ERROR_CODES;
  return of === "permanent" || of === "rejected";
}

function shown(code: unknown): string {
  return typeof code === "string" ? JSON.stringify(code.slice(0, 50)) : kindOf(code);
}
