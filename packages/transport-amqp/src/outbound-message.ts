import { BridgeError, capitalised, type Envelope, isCarried, newHeaders, RESERVED } from "@bridge/ports";
import { AMQP_HEADERS, CARRIED, CONTENT_ENCODING, isAmqpHeader, isBrokersHeader } from "./header-names.ts";
import type { SenderOptions } from "./options.ts";
import type { PublishFields } from "./codec/publish-frames.ts";
import { isTooLong, MAX_SHORT_BYTES } from "./short-string.ts";

/** Delivery modes. */
const [TRANSIENT, PERSISTENT] = [1, 2];
/** The longest time to live that brokers take, about 49 days. */
const MAX_TTL_MS = 0xffff_ffff;
/** Headers are written into a buffer of this size. */
const MAX_HEADER_BYTES = 65_536;
/** Of a frame, what is not headers: its ends, and at most nine properties. */
const REST_OF_FRAME = 2_560;
/** What the length and the type of a name and its text take. */
const HEADER_OVERHEAD = 6;
const MAX_SHOWN_NAME = 100;
const MAX_SECONDS = 2n ** 64n - 1n;

/**
 * What an envelope is published with (the README's table, from right to left).
 *
 * @throws BridgeError of class rejected when something in it cannot be said in AMQP: sent anyway, it would cost the
 * channel or the connection. `MESSAGE_EXPIRED` when its time is over.
 */
export function publishFields(
  envelope: Envelope,
  { exchange, mandatory, persistent }: SenderOptions,
  routingKey: string,
  frameMax: number,
  now: number,
): PublishFields {
  const { headers, id, correlationId, contentType } = envelope;
  const priority = headers[AMQP_HEADERS.priority];
  const timestamp = headers[AMQP_HEADERS.timestamp];
  return {
    exchange,
    routingKey,
    mandatory,
    deliveryMode: persistent ? PERSISTENT : TRANSIENT,
    headers: tableOf(envelope, frameMax),
    messageId: short("the id", id),
    contentType: contentType === "" ? undefined : short("the content type", contentType),
    contentEncoding: shortHeader(headers, CONTENT_ENCODING) ?? shortHeader(headers, AMQP_HEADERS.contentEncoding),
    priority: priority === undefined ? undefined : priorityOf(priority),
    // A receiver takes the id for it when there is none.
    correlationId: correlationId === id ? undefined : short("the correlation id", correlationId),
    replyTo: shortHeader(headers, AMQP_HEADERS.replyTo),
    expiration: expirationOf(envelope, now),
    timestamp: timestamp === undefined ? undefined : secondsOf(timestamp),
    type: shortHeader(headers, AMQP_HEADERS.type),
    appId: shortHeader(headers, AMQP_HEADERS.appId),
  };
}

function tableOf({ headers }: Envelope, frameMax: number): Readonly<Record<string, string>> {
  const table = newHeaders();
  let bytes = put(table, CARRIED.orderingKey, headers[RESERVED.orderingKey]);
  bytes += put(table, CARRIED.dedupId, headers[RESERVED.dedupId]);
  for (const name in headers) {
    if (name === CONTENT_ENCODING || isAmqpHeader(name) || isBrokersHeader(name) || !isCarried(name)) continue;
    // Beside the field that acts, of which there can be one only, a header of its name takes another spelling.
    bytes += put(table, table[name] === undefined ? name : capitalised(name), headers[name]);
  }
  const room = Math.min(MAX_HEADER_BYTES, frameMax - REST_OF_FRAME) - HEADER_OVERHEAD;
  if (bytes <= room) return table;
  throw new BridgeError("INVALID_PAYLOAD", `the headers have ${bytes} bytes, the connection carries ${room}`);
}

/** Returns the bytes that it takes. */
function put(table: Record<string, string>, name: string, value: string | undefined): number {
  if (value === undefined) return 0;
  const nameBytes = Buffer.byteLength(name);
  if (nameBytes > MAX_SHORT_BYTES) throw unsayable(`the name of the header "${name.slice(0, MAX_SHOWN_NAME)}…"`);
  table[name] = value;
  return HEADER_OVERHEAD + nameBytes + Buffer.byteLength(value);
}

/** Identities are not altered to make them fit. */
function short(what: string, text: string): string {
  if (isTooLong(text)) throw unsayable(what);
  return text;
}

function unsayable(what: string): BridgeError {
  return new BridgeError("INVALID_PAYLOAD", `${what} is longer than ${MAX_SHORT_BYTES} bytes, which AMQP cannot carry`);
}

function shortHeader(headers: Envelope["headers"], name: string): string | undefined {
  const value = headers[name];
  return value === undefined ? undefined : short(name, value);
}

function expirationOf({ expiresAt }: Envelope, now: number): string | undefined {
  if (expiresAt === undefined) return undefined;
  if (expiresAt <= now) throw new BridgeError("MESSAGE_EXPIRED", "the message's expiry had passed");
  const ttlMs = Math.ceil(expiresAt - now);
  return ttlMs > MAX_TTL_MS ? undefined : String(ttlMs);
}

function priorityOf(text: string): number {
  const priority = Number(text);
  if (/^\d{1,3}$/.test(text) && priority <= 255) return priority;
  throw new BridgeError("INVALID_PAYLOAD", `the header "${AMQP_HEADERS.priority}" is no number from 0 to 255`);
}

/** What no calendar has came in as digits. */
function secondsOf(text: string): bigint {
  if (/^\d{15,20}$/.test(text) && BigInt(text) <= MAX_SECONDS) return BigInt(text);
  const ms = Date.parse(text);
  if (ms >= 0) return BigInt(Math.floor(ms / 1_000));
  throw new BridgeError("INVALID_PAYLOAD", `the header "${AMQP_HEADERS.timestamp}" is no time after 1970 in RFC 3339`);
}
