import { BridgeError } from "@bridge/ports";
import { isError, veiledCopy } from "../hooks/shown-error.ts";

/** What a send has failed with, without what came in through a reference. */
export function veiledError(thrown: unknown, veil: (text: string) => string): unknown {
  const { code, message, retryAfterMs, charged } = BridgeError.from(thrown);
  const text = veil(message);
  if (text === message) return thrown;
  // With its stack: it is what says where somebody's code threw it.
  if (isError(thrown)) return veiledCopy(thrown, veil);
  return new BridgeError(code, text, { retryAfterMs, charged });
}
