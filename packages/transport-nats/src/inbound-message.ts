import { isReserved, type SourceMessage } from "@bridge/ports";
import type { Msg, MsgHdrs } from "@nats-io/transport-node";
import type { DeliveryInfo } from "./ack-subject.ts";
import { CARRIED, isOwn, isServers, MSG_ID_LOWER, NATS_HEADERS } from "./header-names.ts";

type Headers = Record<string, string>;

/**
 * A message as it came from its stream (the README's table, from left to right).
 *
 * The payload is a view of what was read from the socket: it is not copied here, so whoever keeps it for long copies it.
 */
export function sourceMessage(message: Msg, info: DeliveryInfo): SourceMessage {
  const written = message.headers === undefined ? undefined : textOf(message.headers);
  // What the platform makes of a literal is quicker than a table; most messages have no headers.
  const place: Headers = { [NATS_HEADERS.stream]: info.stream, [NATS_HEADERS.sequence]: String(info.sequence) };
  if (info.deliveryCount > 1) place[NATS_HEADERS.redelivered] = "true";
  const headers = written === undefined ? place : Object.assign(headersOf(written), place);
  return {
    // Of a message without an id, its place in the stream is one; the time tells streams of one name apart.
    id: written?.[CARRIED.id] ?? `${info.stream}:${info.sequence}:${info.timestamp}`,
    subject: message.subject,
    payload: message.data,
    headers,
    contentType: written?.[CARRIED.contentType],
    correlationId: written?.[CARRIED.correlationId],
    dedupId: written?.[MSG_ID_LOWER],
    orderingKey: written?.[CARRIED.orderingKey],
    expiresAt: timeOf(written?.[CARRIED.expiresAt]),
  };
}

/** Names in lower case; values of one name are joined. */
function textOf(headers: MsgHdrs): Headers {
  const text = Object.create(null) as Headers;
  for (const [written, values] of headers) {
    const name = written.toLowerCase();
    const value = values.length === 1 ? (values[0] ?? "") : values.join(", ");
    const before = text[name];
    text[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return text;
}

function headersOf(written: Headers): Headers {
  const headers = Object.create(null) as Headers;
  const put = (name: string, value: string): void => {
    if (!isOwn(name) && !isServers(name) && !isReserved(name)) headers[name] = value;
  };
  for (const name in written) put(name, written[name] ?? "");
  const more = written[CARRIED.moreHeaders];
  if (more === undefined) return headers;
  const unpacked = unpack(more);
  // Somebody else's header of this name.
  if (unpacked === undefined) headers[CARRIED.moreHeaders] = more;
  else for (const [name, value] of unpacked) put(name.toLowerCase(), value);
  return headers;
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
