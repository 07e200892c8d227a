import { BridgeError } from "@bridge/ports";

/** An address that leads nowhere this sender may go. The reason never holds a value that came with a message. */
export function unresolved(reason: string): BridgeError {
  return new BridgeError("BINDING_UNRESOLVED", reason);
}
