import type { IncomingMessage, ServerResponse } from "node:http";
import type { Settlement } from "@bridge/ports";
import { FIELDS } from "../header-fields.ts";
import { fromHeaderValue, toHeaderValue } from "../header-value.ts";

/** A complete answer to a request. */
export interface Reply {
  readonly status: number;
  /** JSON, in ASCII. */
  readonly body: string;
  /** Names and values in turn, beside those that every answer has. */
  readonly headers?: readonly string[];
  /** Whether the connection ends with this answer. */
  readonly close?: boolean;
}

/** On every answer, whatever it says. */
export const COMMON_HEADERS = { "X-Content-Type-Options": "nosniff" } as const;

const RETRY_SOON = ["Retry-After", "1"];

/** Every answer that is not an acceptance. */
export const REFUSALS = {
  notFound: { status: 404, body: error("not found") },
  foreign: {
    status: 403,
    body: error(
      "without a key this receiver takes only requests whose Host and Origin are localhost or 127.0.0.1: send those, or set api_key or allow_anonymous",
    ),
  },
  unauthorized: {
    status: 401,
    body: error("invalid or missing API key"),
    headers: ["WWW-Authenticate", 'Bearer realm="bridge-ingest"'],
  },
  methodNotAllowed: { status: 405, body: error("method not allowed"), headers: ["Allow", "POST"] },
  tooManyHeaders: { status: 431, body: error("too many header fields") },
  tooLarge: { status: 413, body: error("request body too large") },
  slowBody: { status: 408, body: error("the request body did not arrive in time"), close: true },
  internal: { status: 500, body: error("internal error") },
  overCapacity: { status: 503, body: error("over capacity"), headers: RETRY_SOON },
  notConfirmed: {
    status: 503,
    body: error("not confirmed in time: repeat with the same Idempotency-Key"),
    headers: RETRY_SOON,
  },
  stopping: {
    status: 503,
    body: error("not confirmed, the receiver is stopping: repeat with the same Idempotency-Key"),
    headers: RETRY_SOON,
    close: true,
  },
} as const satisfies Record<string, Reply>;

/** 400, naming what is wrong. */
export function malformed(what: string): Reply {
  return { status: 400, body: error(what) };
}

/** What the caller is told of a settlement (contract §8). */
export function replyTo(settlement: Settlement): Reply {
  switch (settlement.kind) {
    case "accept": {
      const { envelopeId, outcome } = settlement;
      return {
        status: 202,
        body: `{"status":"accepted","envelope_id":${asciiJson(envelopeId)},"outcome":"${outcome}"}`,
      };
    }
    case "refuse":
      return { status: 422, body: error(settlement.error.message) };
    case "release": {
      const seconds = Math.max(1, Math.ceil(settlement.delayMs / 1_000));
      return { ...REFUSALS.notConfirmed, headers: ["Retry-After", String(seconds)] };
    }
  }
}

/** Sends `reply`; does nothing when the caller is gone. `correlationId` is the message's, when there is one. */
export function sendReply(outgoing: ServerResponse, reply: Reply, correlationId: string | undefined): void {
  writeReplyHead(outgoing, reply, correlationId);
  endReply(outgoing, reply.body);
}

/** The first half of {@link sendReply}: what can be wrong with `reply` shows here. Nothing of it leaves yet. */
export function writeReplyHead(outgoing: ServerResponse, reply: Reply, correlationId: string | undefined): void {
  if (outgoing.destroyed) return;
  const headers = [
    "X-Content-Type-Options",
    COMMON_HEADERS["X-Content-Type-Options"],
    "Content-Type",
    "application/json",
    "Content-Length",
    String(reply.body.length),
  ];
  if (correlationId !== undefined) headers.push("X-Correlation-ID", toHeaderValue(correlationId));
  if (reply.headers !== undefined) headers.push(...reply.headers);
  if (reply.close === true) headers.push("Connection", "close");
  outgoing.writeHead(reply.status, headers);
}

/** The second half: head and body leave. */
export function endReply(outgoing: ServerResponse, body: string): void {
  // Node writes the header together with the body, in the body's encoding: UTF-8 would spoil a header beyond ASCII.
  if (!outgoing.destroyed) outgoing.end(body, "latin1");
}

/** Answers a request whose body was not read. What is left of it is discarded by node, within the listener's limits. */
export function refuse(incoming: IncomingMessage, outgoing: ServerResponse, reply: Reply): void {
  sendReply(outgoing, reply, correlationIdOf(incoming));
}

/** The request's own correlation id; `undefined` when it has none. */
export function correlationIdOf(incoming: IncomingMessage): string | undefined {
  const value = incoming.headers[FIELDS.correlationId];
  return typeof value === "string" && value !== "" ? fromHeaderValue(value) : undefined;
}

function error(message: string): string {
  return asciiJson({ error: message });
}

/** What JSON writes as it is. */
const PLAIN = /^[ !#-[\]-~]*$/;

function asciiJson(value: string | Readonly<Record<string, string>>): string {
  if (typeof value === "string" && PLAIN.test(value)) return `"${value}"`;
  const text = JSON.stringify(value);
  // Nearly all are plain: what looks for the rest costs more than the JSON.
  if (/^[ -~]*$/.test(text)) return text;
  return text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
