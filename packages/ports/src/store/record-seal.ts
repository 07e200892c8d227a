import { hash } from "node:crypto";
import { BridgeError } from "../errors.ts";
import { quotedId } from "../fingerprint.ts";
import type { OutboxRecord } from "../outbox-store.ts";

/** The two envelopes of a record as a store keeps them: packed, with their payloads apart. */
export interface PackedContent {
  readonly envelope: string;
  /** `null` when nothing but the envelope was received. */
  readonly received: string | null;
  readonly payload: Uint8Array;
  /** `null` when it is the payload. */
  readonly receivedPayload: Uint8Array | null;
}

/** SHA-256 of everything that a record is, however it is stored: a store compares it before it lends the record. */
export function recordSeal(record: OutboxRecord, content: PackedContent): Buffer {
  const { id, routeId, bindingId, address, payloadDigest, orderingKey, entryId, createdAt } = record;
  const { envelope, received, payload, receivedPayload } = content;
  const digests = [hash("sha256", payload), receivedPayload && hash("sha256", receivedPayload)];
  // Half a surrogate pair is stored as U+FFFD.
  const texts = [id, routeId, bindingId, address, payloadDigest, orderingKey, entryId].map(
    (field) => field?.toWellFormed() ?? null,
  );
  return hash("sha256", JSON.stringify([...texts, createdAt, envelope, received, ...digests]), "buffer");
}

/** What the claim of one record says that is not as it was written. */
export function spoiledRecord(id: string): BridgeError {
  return new BridgeError(
    "INTERNAL",
    `record ${quotedId(id)} of the outbox is not as it was written: it is kept, and not sent`,
  );
}
