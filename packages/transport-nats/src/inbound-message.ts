import { isReserved, newHeaders, type SourceMessage } from "@bridge/ports";
import type { Msg, MsgHdrs } from "@nats-io/transport-node";
import type { DeliveryInfo } from "./ack-subject.ts";
import { CARRIED, isOwn, isServers, MSG_ID_LOWER, NATS_HEADERS } from "./header-names.ts";

type Headers = Record<string, string>;

/** Of the many messages without a header. */
const NOTHING_SAID: Readonly<Headers> = Object.freeze(newHeaders());

/**
 * A message as it came from its stream (the README's table, from left to right).
 *
 * The payload is a view of what was read from the socket: it is not copied here, so whoever keeps it for long copies it.
 */
export function sourceMessage(message: Msg, info: DeliveryInfo): SourceMessage {
  const headers = newHeaders();
  const said = message.headers === undefined ? NOTHING_SAID : read(message.headers, headers);
  headers[NATS_HEADERS.stream] = info.stream;
  headers[NATS_HEADERS.sequence] = info.place;
  if (info.deliveryCount > 1) headers[NATS_HEADERS.redelivered] = "true";
  return {
    // Of a message without an id, its place in the stream is one; the time tells streams of one name apart.
    id: said[CARRIED.id] ?? `${info.stream}:${info.place}:${info.timestamp}`,
    subject: message.subject,
    payload: message.data,
    headers,
    contentType: said[CARRIED.contentType],
    correlationId: said[CARRIED.correlationId],
    dedupId: said[MSG_ID_LOWER],
    orderingKey: said[CARRIED.orderingKey],
    expiresAt: timeOf(said[CARRIED.expiresAt]),
  };
}

/** Puts what the message carries for others into `headers`, and gives back what is said of the message itself. */
function read(written: MsgHdrs, headers: Headers): Headers {
  const said = newHeaders();
  for (const [writtenName, values] of written) {
    const name = writtenName.toLowerCase();
    if (isReserved(name)) continue;
    const to = isOwn(name) || isServers(name) ? said : headers;
    const value = values.length === 1 ? (values[0] ?? "") : values.join(", ");
    const before = to[name];
    to[name] = before === undefined ? value : `${before}, ${value}`;
  }
  const more = said[CARRIED.moreHeaders];
  if (more !== undefined) addMore(more, headers);
  return said;
}

function addMore(more: string, headers: Headers): void {
  const unpacked = unpack(more);
  if (unpacked === undefined) {
    // Somebody else's header of this name.
    headers[CARRIED.moreHeaders] = more;
    return;
  }
  for (const [written, value] of unpacked) {
    const name = written.toLowerCase();
    if (!isOwn(name) && !isServers(name) && !isReserved(name)) headers[name] = value;
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

/** What is no time is no expiry. */
function timeOf(written: string | undefined): number | undefined {
  if (written === undefined || !/^\d{4}-\d\d-\d\dT/.test(written)) return undefined;
  const time = Date.parse(written);
  return Number.isNaN(time) ? undefined : time;
}
