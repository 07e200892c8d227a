import type { IncomingHttpHeaders } from "node:http";
import { isReserved, newHeaders, parseTimestamp, type SourceMessage } from "@bridge/ports";
import { FIELDS, isEndToEnd } from "../header-fields.ts";
import { fromHeaderValue } from "../header-value.ts";

const NONE: readonly string[] = [];

/** All of a message but its payload. */
export type MessageHead = Omit<SourceMessage, "payload">;

/** What is wrong with a request that cannot be a message. */
export interface Malformed {
  readonly malformed: string;
}

/**
 * What a request's headers and path say of the message (contract §8). `rest` is the path after the receiver's own, as
 * it was sent; it names the subject, then `X-Subject` does, else the receiver.
 */
export function readMessageHead(
  headers: IncomingHttpHeaders,
  rest: string,
  receiverId: string,
): MessageHead | Malformed {
  const pathSubject = decodePath(rest);
  if (pathSubject === undefined) return { malformed: "the path is not percent-encoded UTF-8" };
  const expires = field(headers, FIELDS.expiresAt);
  const expiresAt = expires === undefined ? undefined : parseTimestamp(expires);
  if (expires !== undefined && expiresAt === undefined) {
    return { malformed: "X-Expires-At is not an RFC 3339 timestamp, such as 2026-01-31T09:30:00Z" };
  }
  const key = field(headers, FIELDS.idempotencyKey);
  return {
    id: key,
    dedupId: key,
    subject: pathSubject === "" ? (field(headers, FIELDS.subject) ?? receiverId) : pathSubject,
    contentType: field(headers, FIELDS.contentType),
    correlationId: field(headers, FIELDS.correlationId),
    orderingKey: field(headers, FIELDS.orderingKey),
    expiresAt,
    headers: carried(headers),
  };
}

/** The other end-to-end headers. What the caller names in `Connection` belongs to the connection too. */
function carried(headers: IncomingHttpHeaders): Record<string, string> {
  const named = namedIn(headers.connection);
  const result = newHeaders();
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || !isEndToEnd(name) || isReserved(name) || named.includes(name)) continue;
    result[name] = fromHeaderValue(typeof value === "string" ? value : value.join(", "));
  }
  return result;
}

function namedIn(connection: string | undefined): readonly string[] {
  if (connection === undefined || connection === "keep-alive") return NONE;
  return connection.toLowerCase().split(/[\s,]+/);
}

/** The text of one of this transport's own fields; one that is there but empty counts as absent. */
function field(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" && value !== "" ? fromHeaderValue(value) : undefined;
}

function decodePath(rest: string): string | undefined {
  if (!rest.includes("%")) return rest;
  try {
    return decodeURIComponent(rest);
  } catch {
    return undefined;
  }
}
