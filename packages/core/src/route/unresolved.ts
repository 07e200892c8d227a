import { BridgeError } from "@bridge/ports";

/**
 * The error for a message without a target: something threw while its bindings or its address were computed. These
 * depend only on the message, so no retry helps, and nothing is charged, because nothing was tried.
 */
export function unresolved(what: string, thrown: unknown): BridgeError {
  const error = BridgeError.from(thrown);
  const final = BridgeError.is(thrown) && error.class !== "transient";
  const message = final ? error.message : `${what} failed: ${error.message}`;
  return new BridgeError(final ? error.code : "BINDING_UNRESOLVED", message, { cause: thrown, charged: false });
}
