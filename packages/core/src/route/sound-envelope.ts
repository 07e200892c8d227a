import { type Envelope, newHeaders, RESERVED } from "@bridge/ports";
import { HalfCharacters, headerName } from "./half-characters.ts";
import { kindOf } from "./kind-of.ts";
import { INGRESS_LIMITS } from "./ingress.ts";
import { isHeaders, isTime } from "./mend-message.ts";
import { soundPayload } from "./sound-payload.ts";

const OWN = Object.values(RESERVED);
/** The ingress limits, plus what the bridge itself may add. */
const MOST = {
  headers: INGRESS_LIMITS.headers + OWN.length,
  headerSize: INGRESS_LIMITS.headerSize + OWN.join("").length + OWN.length * INGRESS_LIMITS.idLength,
} as const;
const TEXTS = ["id", "sourceId", "subject", "contentType", "correlationId"] as const;

/**
 * Checks an envelope made elsewhere, such as by a processor, and copies it for the engine: each member is read once,
 * and nobody else holds the copy. @throws Error naming what does not match the type
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
  if (id === "") throw new Error("id of the envelope is empty: repeats are known by it");
  bounded("id", id.length, INGRESS_LIMITS.idLength);
  bounded("correlationId", correlationId.length, INGRESS_LIMITS.idLength);
  bounded("subject", subject.length, INGRESS_LIMITS.subjectLength);
  bounded("contentType", contentType.length, INGRESS_LIMITS.contentTypeLength);
  const bytes = soundPayload(payload);
  if (bytes === undefined) throw new Error(`payload of the envelope is ${kindOf(payload)}, not a Uint8Array`);
  if (!isTime(receivedAt)) throw new Error("receivedAt of the envelope is no time in epoch milliseconds");
  if (!isTime(expiresAt)) throw new Error("expiresAt of the envelope is no time in epoch milliseconds");
  const sound = { ...envelope, headers: soundHeaders(headers), payload: bytes };
  allWhole(sound);
  return expiresAt === undefined ? sound : { ...sound, expiresAt };
}

function soundHeaders(headers: unknown): Record<string, string> {
  if (!isHeaders(headers)) throw new Error("headers of the envelope are no plain object of texts");
  const sound = newHeaders();
  const names = Object.keys(headers);
  bounded("the number of headers", names.length, MOST.headers);
  let size = 0;
  for (const name of names) {
    const value = headers[name];
    if (typeof value !== "string") {
      throw new Error(`header ${JSON.stringify(name.slice(0, 100))} of the envelope is ${kindOf(value)}, not text`);
    }
    size += name.length + value.length;
    sound[name.toLowerCase()] = value;
  }
  bounded("the size of all headers", size, MOST.headerSize);
  return sound;
}

/** @throws BridgeError `INVALID_PAYLOAD` naming the texts that are not well-formed: a retry would yield the same */
function allWhole(envelope: Pick<Envelope, (typeof TEXTS)[number] | "headers">): void {
  let halves: HalfCharacters | undefined;
  for (const name of TEXTS) if (!envelope[name].isWellFormed()) (halves ??= new HalfCharacters()).add(name);
  for (const [name, value] of Object.entries(envelope.headers)) {
    if (value.isWellFormed() && name.isWellFormed()) continue;
    (halves ??= new HalfCharacters()).add(headerName(name));
  }
  if (halves !== undefined) throw halves.error();
}

/** Incoming messages are within these limits, and stores and brokers rely on them. */
function bounded(what: string, length: number, most: number): void {
  if (length > most) throw new Error(`${what} of the envelope is above the limit of ${most}`);
}
