import { BridgeError } from "@bridge/ports";
import { kindOf } from "@bridge/ports/internal";

const MAX_LENGTH = 500;

/**
 * What code of a program threw, as the engine is told it: an error as it is, so that its code and its stack get there,
 * and in place of anything else one that names `who` threw it. Never throws.
 */
export function failure(who: string, thrown: unknown): unknown {
  if (BridgeError.is(thrown))
    return says(thrown) ? thrown : withText(thrown, `${who} threw an error that says nothing`);
  if (isError(thrown))
    return says(thrown) ? thrown : new Error(`${who} threw an error that says nothing`, { cause: thrown });
  const what = typeof thrown === "string" ? `a text: ${thrown.slice(0, MAX_LENGTH)}` : kindOf(thrown);
  return new Error(`${who} threw ${what}; throw an Error, so that it can be seen where`, { cause: thrown });
}

/** The same failure, which goes the same way. */
function withText(thrown: BridgeError, message: string): BridgeError {
  const { code, retryAfterMs, charged } = thrown;
  return new BridgeError(code, message, { cause: thrown, retryAfterMs, charged });
}

function says(error: Error): boolean {
  try {
    return typeof error.message === "string" && error.message !== "";
  } catch {
    return false;
  }
}

/** Also of another realm. */
export function isError(value: unknown): value is Error {
  try {
    return (
      value instanceof Error || BridgeError.is(value) || Object.prototype.toString.call(value) === "[object Error]"
    );
  } catch {
    return false;
  }
}

/** The message of an error, if it can be read. Never throws. */
export function messageOf(thrown: unknown): string {
  return BridgeError.from(thrown).message.slice(0, MAX_LENGTH);
}

/** Where it was thrown, if that can be read. Never throws. */
export function stackOf(thrown: unknown): string | undefined {
  try {
    return isError(thrown) && typeof thrown.stack === "string" ? thrown.stack : undefined;
  } catch {
    return undefined;
  }
}
