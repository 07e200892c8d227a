import { BridgeError } from "@bridge/ports";

/** What a send has failed with, without what came in through a reference. */
export function veiledError(thrown: unknown, veil: (text: string) => string): unknown {
  const { code, message, retryAfterMs, charged } = BridgeError.from(thrown);
  const text = veil(message);
  return text === message ? thrown : new BridgeError(code, text, { retryAfterMs, charged });
}
