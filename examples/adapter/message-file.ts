import { carriedHeaders, type Envelope, RESERVED, type SourceMessage } from "@bridge/ports";
import * as v from "valibot";

const messageFile = v.strictObject({
  id: v.string(),
  subject: v.string(),
  contentType: v.string(),
  correlationId: v.string(),
  headers: v.record(v.string(), v.string()),
  dedupId: v.optional(v.string()),
  orderingKey: v.optional(v.string()),
  expiresAt: v.optional(v.number()),
  payload: v.pipe(
    v.string(),
    v.base64(),
    v.transform((text) => Uint8Array.from(Buffer.from(text, "base64"))),
  ),
});

/**
 * A message as the text of a file. Of the bridge's own headers only the causation id leaves as a header; the
 * deduplication id and the ordering key have fields of their own.
 */
export function encodeMessage({
  id,
  subject,
  contentType,
  correlationId,
  expiresAt,
  headers,
  payload,
}: Envelope): string {
  return JSON.stringify({
    id,
    subject,
    contentType,
    correlationId,
    expiresAt,
    headers: Object.fromEntries(carriedHeaders(headers)),
    dedupId: headers[RESERVED.dedupId],
    orderingKey: headers[RESERVED.orderingKey],
    payload: Buffer.from(payload).toString("base64"),
  });
}

/** @throws Error when the bytes are no message */
export function decodeMessage(bytes: Uint8Array): SourceMessage {
  return v.parse(messageFile, JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
}
