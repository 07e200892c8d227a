import { BridgeError, carriedHeaders, type Envelope, RESERVED } from "@bridge/ports";
import type { Options } from "amqplib";
import { AMQP_HEADERS, CARRIED, isAmqpHeader, isBrokersHeader } from "./header-names.ts";
import { isTooLong, MAX_SHORT_BYTES } from "./short-string.ts";

/** The longest time to live that brokers take, about 49 days. */
const MAX_TTL_MS = 0xffff_ffff;
/** The client library encodes headers in a buffer of this size. */
const MAX_HEADER_BYTES = 65_536;
/** Of a frame, what is not headers: its ends, and at most nine properties. */
const REST_OF_FRAME = 2_560;
/** What the length and the type of a name and its text take. */
const HEADER_OVERHEAD = 6;
const MAX_SHOWN_NAME = 100;

/**
 * The properties that an envelope is sent with (the README's table, from right to left).
 *
 * @throws BridgeError of class rejected when something in it cannot be said in AMQP: sent anyway, it would cost the
 * channel or the connection. `MESSAGE_EXPIRED` when its time is over.
 */
export function publishProperties(envelope: Envelope, frameMax: number, now: number): Options.Publish {
  const { headers, id, correlationId, contentType, expiresAt } = envelope;
  const properties: Options.Publish = { messageId: short("the id", id), headers: tableOf(envelope, frameMax) };
  if (contentType !== "") properties.contentType = short("the content type", contentType);
  // A receiver takes the id for it when there is none.
  if (correlationId !== id) properties.correlationId = short("the correlation id", correlationId);
  const ttlMs = expiresAt === undefined ? Number.POSITIVE_INFINITY : timeLeft(expiresAt - now);
  if (ttlMs <= MAX_TTL_MS) properties.expiration = String(ttlMs);
  const encoding = headers[AMQP_HEADERS.contentEncoding];
  if (encoding !== undefined) properties.contentEncoding = short(AMQP_HEADERS.contentEncoding, encoding);
  const replyTo = headers[AMQP_HEADERS.replyTo];
  if (replyTo !== undefined) properties.replyTo = short(AMQP_HEADERS.replyTo, replyTo);
  const type = headers[AMQP_HEADERS.type];
  if (type !== undefined) properties.type = short(AMQP_HEADERS.type, type);
  const appId = headers[AMQP_HEADERS.appId];
  if (appId !== undefined) properties.appId = short(AMQP_HEADERS.appId, appId);
  const priority = headers[AMQP_HEADERS.priority];
  if (priority !== undefined) properties.priority = priorityOf(priority);
  const timestamp = headers[AMQP_HEADERS.timestamp];
  if (timestamp !== undefined) properties.timestamp = secondsOf(timestamp);
  return properties;
}

function tableOf({ headers }: Envelope, frameMax: number): Readonly<Record<string, string>> {
  const table = Object.create(null) as Record<string, string>;
  let bytes = 0;
  const put = (name: string, value: string): void => {
    const nameBytes = Buffer.byteLength(name);
    if (nameBytes > MAX_SHORT_BYTES) throw unsayable(`the name of the header "${name.slice(0, MAX_SHOWN_NAME)}…"`);
    bytes += HEADER_OVERHEAD + nameBytes + Buffer.byteLength(value);
    table[name] = value;
  };
  const orderingKey = headers[RESERVED.orderingKey];
  if (orderingKey !== undefined) put(CARRIED.orderingKey, orderingKey);
  const dedupId = headers[RESERVED.dedupId];
  if (dedupId !== undefined) put(CARRIED.dedupId, dedupId);
  for (const [name, value] of carriedHeaders(headers)) {
    if (name === CARRIED.orderingKey || name === CARRIED.dedupId || isAmqpHeader(name) || isBrokersHeader(name))
      continue;
    put(name, value);
  }
  const room = Math.min(MAX_HEADER_BYTES, frameMax - REST_OF_FRAME) - HEADER_OVERHEAD;
  if (bytes <= room) return table;
  throw new BridgeError("INVALID_PAYLOAD", `the headers have ${bytes} bytes, the connection carries ${room}`);
}

/** Identities are not altered to make them fit. */
function short(what: string, text: string): string {
  if (isTooLong(text)) throw unsayable(what);
  return text;
}

function unsayable(what: string): BridgeError {
  return new BridgeError("INVALID_PAYLOAD", `${what} is longer than ${MAX_SHORT_BYTES} bytes, which AMQP cannot carry`);
}

function timeLeft(ms: number): number {
  if (ms <= 0) throw new BridgeError("MESSAGE_EXPIRED", "the message's expiry had passed");
  return Math.ceil(ms);
}

function priorityOf(text: string): number {
  const priority = Number(text);
  if (/^\d{1,3}$/.test(text) && priority <= 255) return priority;
  throw new BridgeError("INVALID_PAYLOAD", `the header "${AMQP_HEADERS.priority}" is no number from 0 to 255`);
}

function secondsOf(text: string): number {
  const ms = Date.parse(text);
  if (ms >= 0) return Math.floor(ms / 1_000);
  throw new BridgeError("INVALID_PAYLOAD", `the header "${AMQP_HEADERS.timestamp}" is no time after 1970 in RFC 3339`);
}
