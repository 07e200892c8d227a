import { inspect } from "node:util";
import { BridgeError } from "@bridge/ports";
import { stackOf } from "../route/stack-of.ts";

/** So deep is looked for what must not be seen: about as deep as a logger prints. */
const DEPTH = 4;

/** What was thrown, rather than what the engine made of it. Never throws. */
export function originalOf(error: BridgeError): Error {
  try {
    const { cause } = error;
    return error.code === "INTERNAL" && isError(cause) && !BridgeError.is(cause) ? cause : error;
  } catch {
    return error;
  }
}

/** The error, or a copy of it without what came in through references, where it quotes that. Never throws. */
export function shownError(error: Error, veil: ((text: string) => string) | undefined): Error {
  if (veil === undefined) return error;
  try {
    const text = inspect(error, { depth: DEPTH, customInspect: false });
    if (veil(text) === text) return error;
  } catch {
    // What cannot be looked at may quote anything.
  }
  return veiledCopy(error, veil);
}

/** An error that says the same, without what must not be seen, and nothing else. Never throws. */
export function veiledCopy(error: Error, veil: (text: string) => string): Error {
  const { code, message, retryAfterMs, charged } = BridgeError.from(error);
  const told = veil(message);
  const copy = BridgeError.is(error) ? new BridgeError(code, told, { retryAfterMs, charged }) : new Error(told);
  const stack = stackOf(error);
  Object.defineProperty(copy, "stack", {
    value: stack === undefined ? `${copy.name}: ${told}` : veil(stack),
    writable: true,
    configurable: true,
  });
  return copy;
}

/** Never throws. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error;
  } catch {
    return false;
  }
}
