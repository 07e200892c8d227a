import { BridgeError, type Clock, type Envelope } from "@bridge/ports";

/** The error for a message that has expired; `undefined` if it may still be sent. Not charged, because nothing was tried. */
export function expiryOf(envelope: Envelope, clock: Clock): BridgeError | undefined {
  const { expiresAt } = envelope;
  if (expiresAt === undefined || clock.now() <= expiresAt) return undefined;
  return new BridgeError("MESSAGE_EXPIRED", "the message's expiry had passed", { charged: false });
}
