import { BridgeError, isReserved, newHeaders, parseTimestamp, type SourceMessage } from "@bridge/ports";
import type { DeliveryInfo } from "./ack-subject.ts";
import { type WireMessage, writtenHeaders } from "./header-block.ts";
import { CARRIED, isOwn, isPlace, isServers, MSG_ID, MSG_ID_LOWER, NATS_HEADERS } from "./header-names.ts";

type Headers = Record<string, string>;

/** Of the many messages without a header. */
const NOTHING_SAID: Readonly<Headers> = Object.freeze(newHeaders());

/** A message that was read, and why no more than its bytes could be. */
export interface Inbound {
  readonly message: SourceMessage;
  readonly undecodable?: BridgeError;
}

/**
 * A message as it came from its stream (the README's table, from left to right). One whose headers cannot be read has all of
 * its bytes for a payload, headers included.
 *
 * The payload is a view of what was read from the socket: it is not copied here, so whoever keeps it for long copies it.
 */
export function inbound(subject: string, wire: WireMessage, info: DeliveryInfo): Inbound {
  try {
    return { message: sourceMessage(subject, wire, info) };
  } catch (error) {
    const message = { id: placeOf(info), subject, payload: wire.bytes, headers: origin(newHeaders(), info) };
    return { message, undecodable: BridgeError.from(error) };
  }
}

function sourceMessage(subject: string, wire: WireMessage, info: DeliveryInfo): SourceMessage {
  const headers = newHeaders();
  const said = wire.headerLength === 0 ? NOTHING_SAID : read(wire, headers);
  return {
    id: said[CARRIED.id] ?? placeOf(info),
    subject,
    payload: wire.bytes.subarray(wire.headerLength),
    headers: origin(headers, info),
    contentType: said[CARRIED.contentType],
    correlationId: said[CARRIED.correlationId],
    dedupId: said[MSG_ID_LOWER],
    orderingKey: said[CARRIED.orderingKey],
    expiresAt: timeOf(said[CARRIED.expiresAt]),
  };
}

/** Of a message without an id, its place in the stream is one; the time tells streams of one name apart. */
function placeOf({ stream, place, timestamp }: DeliveryInfo): string {
  return `${stream}:${place}:${timestamp}`;
}

function origin(headers: Headers, { stream, place, deliveryCount }: DeliveryInfo): Headers {
  headers[NATS_HEADERS.stream] = stream;
  headers[NATS_HEADERS.sequence] = place;
  if (deliveryCount > 1) headers[NATS_HEADERS.redelivered] = "true";
  return headers;
}

/** Puts what the message carries for others into `headers`, and gives back what is said of the message itself. */
function read(wire: WireMessage, headers: Headers): Headers {
  const said = newHeaders();
  const asBridgesWrite = new Set<string>();
  for (const [written, value] of writtenHeaders(wire)) {
    const name = written.toLowerCase();
    if (isReserved(name) || isPlace(name)) continue;
    if (!isOwn(name) && !isServers(name)) {
      add(headers, name, value);
      continue;
    }
    // Of several the first acts, one in the spelling of bridges before others; what does not act is a header.
    const spelled = written === (name === MSG_ID_LOWER ? MSG_ID : name);
    const before = said[name];
    if (before === undefined || (spelled && !asBridgesWrite.has(name))) {
      said[name] = value;
      if (before !== undefined) addUnlessServers(headers, name, before);
    } else addUnlessServers(headers, name, value);
    if (spelled) asBridgesWrite.add(name);
  }
  const more = said[CARRIED.moreHeaders];
  if (more !== undefined) addMore(more, headers);
  return said;
}

function add(headers: Headers, name: string, value: string): void {
  const before = headers[name];
  headers[name] = before === undefined ? value : `${before}, ${value}`;
}

function addUnlessServers(headers: Headers, name: string, value: string): void {
  if (!isServers(name)) add(headers, name, value);
}

function addMore(more: string, headers: Headers): void {
  const unpacked = unpack(more);
  if (unpacked === undefined) {
    // Somebody else's header of this name.
    add(headers, CARRIED.moreHeaders, more);
    return;
  }
  for (const [written, value] of unpacked) {
    const name = written.toLowerCase();
    if (!isPlace(name) && !isServers(name) && !isReserved(name)) add(headers, name, value);
  }
}

function unpack(more: string): readonly (readonly [string, string])[] | undefined {
  try {
    const parsed: unknown = JSON.parse(more);
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return undefined;
    const entries: [string, unknown][] = Object.entries(parsed);
    return entries.every((entry): entry is [string, string] => typeof entry[1] === "string") ? entries : undefined;
  } catch {
    return undefined;
  }
}

/** What says when it expires and is no time would else be delivered for ever. */
function timeOf(written: string | undefined): number | undefined {
  if (written === undefined || written === "") return undefined;
  const time = parseTimestamp(written);
  if (time !== undefined) return time;
  throw new BridgeError("INVALID_PAYLOAD", `the header ${CARRIED.expiresAt} is no time such as 2026-01-31T09:30:00Z`);
}
