import { type Envelope, newHeaders } from "@bridge/ports";
import { kindOf } from "./kind-of.ts";
import { isHeaders, isTime } from "./mend-message.ts";
import { soundPayload } from "./sound-payload.ts";

const TEXTS = ["id", "sourceId", "subject", "contentType", "correlationId"] as const;

/**
 * An envelope that somebody else has made, such as a processor, as the engine may keep it: read once, so that it is
 * nobody else's any more. @throws Error that names what is not as the type says
 */
export function soundEnvelope(value: unknown): Envelope {
  if (typeof value !== "object" || value === null) throw new Error(`the envelope is ${kindOf(value)}`);
  const { id, sourceId, subject, contentType, headers, payload, correlationId, receivedAt, expiresAt } =
    value as Envelope;
  const envelope = { id, sourceId, subject, contentType, headers, payload, correlationId, receivedAt };
  for (const name of TEXTS) {
    const text: unknown = envelope[name];
    if (typeof text !== "string") throw new Error(`${name} of the envelope is ${kindOf(text)}, not text`);
  }
  const bytes = soundPayload(payload);
  if (bytes === undefined) throw new Error(`payload of the envelope is ${kindOf(payload)}, not a Uint8Array`);
  if (!isTime(receivedAt)) throw new Error("receivedAt of the envelope is no time in epoch milliseconds");
  if (!isTime(expiresAt)) throw new Error("expiresAt of the envelope is no time in epoch milliseconds");
  const sound = { ...envelope, headers: soundHeaders(headers), payload: bytes };
  return expiresAt === undefined ? sound : { ...sound, expiresAt };
}

function soundHeaders(headers: unknown): Record<string, string> {
  if (!isHeaders(headers)) throw new Error("headers of the envelope are no plain object of texts");
  const sound = newHeaders();
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (typeof value !== "string") {
      throw new Error(`header ${JSON.stringify(name.slice(0, 100))} of the envelope is ${kindOf(value)}, not text`);
    }
    sound[name] = value;
  }
  return sound;
}
