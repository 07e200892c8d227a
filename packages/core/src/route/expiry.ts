import { BridgeError, type Clock, type Envelope } from "@bridge/ports";

/** Why a message may not be sent any more; `undefined` while it may. Not charged: nothing was tried. */
export function expiryOf(envelope: Envelope, clock: Clock): BridgeError | undefined {
  const { expiresAt } = envelope;
  if (expiresAt === undefined || clock.now() <= expiresAt) return undefined;
  return new BridgeError("MESSAGE_EXPIRED", "the message's expiry had passed", { charged: false });
}
