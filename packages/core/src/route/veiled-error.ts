import { BridgeError } from "@bridge/ports";
import { isError, veiledCopy } from "../hooks/shown-error.ts";

/** A send's error, with secret values removed. */
export function veiledError(thrown: unknown, veil: (text: string) => string): unknown {
  const { code, message, retryAfterMs, charged } = BridgeError.from(thrown);
  const text = veil(message);
  if (text === message) return thrown;
  // Keep the stack: it says where the error was thrown.
  if (isError(thrown)) return veiledCopy(thrown, veil);
  return new BridgeError(code, text, { retryAfterMs, charged });
}
