import { BridgeError } from "@bridge/ports";

/**
 * Why a message has no target: what was thrown while its bindings or an address were worked out. They depend on nothing but
 * the message, so that no repeat helps, and nothing is charged: nothing was tried.
 */
export function unresolved(what: string, thrown: unknown): BridgeError {
  const error = BridgeError.from(thrown);
  const final = BridgeError.is(thrown) && error.class !== "transient";
  const message = final ? error.message : `${what} failed: ${error.message}`;
  return new BridgeError(final ? error.code : "BINDING_UNRESOLVED", message, { cause: thrown, charged: false });
}
