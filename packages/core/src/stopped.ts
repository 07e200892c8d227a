import { BridgeError } from "@bridge/ports";

/**
 * What the signals of a part abort with when it is stopped. Without frames: they would keep alive what stopped it, a later
 * configuration, for as long as anybody keeps the signal.
 */
export function stopped(): BridgeError {
  return new BridgeError("UNAVAILABLE", "it was stopped", { charged: false });
}
