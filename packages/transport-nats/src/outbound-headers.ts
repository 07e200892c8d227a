import { BridgeError, type Envelope, isCarried, newHeaders, RESERVED } from "@bridge/ports";
import { CARRIED, EXPECTED_STREAM, isOwn, isPlace, isServers, MSG_ID } from "./header-names.ts";

/** What a reader takes off, or takes for the end of a line, does not arrive as it was written. */
// eslint-disable-next-line no-control-regex
const ALTERED = /[\0-\x08\x0a-\x1f\x7f]|^\s|\s$/;
const MSG_ID_LINE = new RegExp(`\\r\\n${MSG_ID}: [^\\r]*\\r\\n`);
const NAME = /^[!-9;-~]+$/;
/** The last moment that can be written with a year of four digits. */
const LAST_MOMENT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * The headers that an envelope is sent with, as they are written (the README's table, from right to left).
 *
 * @throws BridgeError `INVALID_PAYLOAD` when an identity of it cannot be said in NATS; `MESSAGE_EXPIRED` when its time is over
 */
export function outboundHeaders(envelope: Envelope, expectedStream: string | undefined, now: number): Uint8Array {
  const { id, correlationId, contentType, expiresAt, headers } = envelope;
  let text = `NATS/1.0\r\n${line(CARRIED.id, id)}`;
  // A receiver takes the id for it when there is none.
  if (correlationId !== id) text += line(CARRIED.correlationId, correlationId);
  if (contentType !== "") text += line(CARRIED.contentType, contentType);
  if (expiresAt !== undefined) text += expiry(expiresAt, now);
  const orderingKey = headers[RESERVED.orderingKey];
  if (orderingKey !== undefined) text += line(CARRIED.orderingKey, orderingKey);
  const dedupId = headers[RESERVED.dedupId];
  if (dedupId !== undefined) text += line(MSG_ID, dedupId);
  if (expectedStream !== undefined) text += line(EXPECTED_STREAM, expectedStream);
  return Buffer.from(`${text}${others(envelope)}\r\n`);
}

/** The same without the id that a stream recognises repeats by. */
export function withoutMsgId(headers: Uint8Array): Uint8Array {
  return Buffer.from(Buffer.from(headers).toString().replace(MSG_ID_LINE, "\r\n"));
}

function others({ headers }: Envelope): string {
  let text = "";
  let packed: Record<string, string> | undefined;
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || !isCarried(name) || isPlace(name) || isServers(name)) continue;
    // Under its own name it would say something of the message itself.
    if (!isOwn(name) && NAME.test(name) && !isAltered(value)) text += `${name}: ${value}\r\n`;
    else (packed ??= newHeaders())[name] = value;
  }
  return packed === undefined ? text : `${text}${CARRIED.moreHeaders}: ${JSON.stringify(packed)}\r\n`;
}

/** Identities are not altered to make them fit. */
function line(name: string, value: string): string {
  if (!isAltered(value)) return `${name}: ${value}\r\n`;
  throw new BridgeError(
    "INVALID_PAYLOAD",
    `the ${name} has a character that NATS does not carry: it begins or ends with white space, or has an end of line`,
  );
}

function isAltered(value: string): boolean {
  return ALTERED.test(value) || !value.isWellFormed();
}

function expiry(expiresAt: number, now: number): string {
  if (expiresAt <= now) throw new BridgeError("MESSAGE_EXPIRED", "the message's expiry had passed");
  return expiresAt > LAST_MOMENT ? "" : line(CARRIED.expiresAt, new Date(expiresAt).toISOString());
}
