import { hash } from "node:crypto";
import { type Envelope, RESERVED } from "@bridge/ports";

/** The identity that a redelivery shares; `undefined` when the bridge minted the id (spec 1.3). */
export function stableIdentity(envelope: Envelope): string | undefined {
  const dedupId = envelope.headers[RESERVED.dedupId];
  if (dedupId !== undefined) return dedupId;
  return envelope.headers[RESERVED.generatedId] === undefined ? envelope.id : undefined;
}

export function orderingKey(envelope: Envelope): string | undefined {
  return envelope.headers[RESERVED.orderingKey];
}

/** One message that fails at one binding has one entry id, so that a second write keeps the first (contract §2). */
export function deadLetterId(routeId: string, bindingId: string, envelope: Envelope): string {
  const payload = hash("sha256", envelope.payload, "hex");
  const identity = JSON.stringify([routeId, bindingId, envelope.sourceId, envelope.id, payload]);
  return hash("sha256", identity, "hex");
}
