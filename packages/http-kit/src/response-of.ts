import { connectionOf } from "@bridge/net-kit";
import type { Clock } from "@bridge/ports";
import { jsonInSlices, type Slices } from "@bridge/ports/internal";
import { answer, type AnswerBody } from "./answer.ts";
import { answerInParts, goesInParts } from "./answer-in-parts.ts";
import { CORRELATION_HEADER, SECURITY_HEADERS } from "./common-headers.ts";
import type { Cors } from "./cors.ts";
import type { Reply } from "./endpoint.ts";
import { STREAM_HEADERS } from "./event-stream.ts";
import type { Exchange } from "./exchange.ts";
import { PartedBody } from "./parted-body.ts";
import { StreamBody } from "./stream-body.ts";
import type { Carried } from "./stream-grant.ts";

interface Making {
  readonly clock: Clock;
  readonly slices: Slices;
  readonly veil: () => ((text: string) => string) | undefined;
  /** It could not be made to its end. */
  readonly failed: (error: unknown) => void;
}

/** An answer may have a part for each of thousands of routes. */
export async function bodyOf<Action extends string>(
  { body }: Reply,
  exchange: Exchange<Action>,
  { clock, slices, veil, failed }: Making,
): Promise<AnswerBody> {
  if (body === undefined) return null;
  if (typeof body === "string") return body;
  const carried = (exchange.context.env ?? {}) as Carried;
  if (body instanceof StreamBody) return exchange.grant?.open(body, { carried, veil, failed }) ?? null;
  const connection = connectionOf(carried.outgoing);
  if (body instanceof PartedBody) {
    if (exchange.request.method === "HEAD") return null;
    return body.answer(slices, {
      expect: (bytes) => connection?.expect(bytes),
      cut: connection && (() => connection.cut()),
      failed,
    });
  }
  const made = body instanceof Uint8Array ? body : await jsonInSlices(body as object, slices);
  const bytes = made as Uint8Array<ArrayBuffer>;
  if (connection === undefined || exchange.request.method === "HEAD" || !goesInParts(bytes)) return bytes;
  exchange.length = bytes.length;
  return answerInParts(bytes, { taker: connection, client: exchange.request.signal, clock });
}

/** The answer with all its headers. */
export function responseOf<Action extends string>(
  reply: Reply,
  body: AnswerBody,
  { context, request, row, rows, length, renewedCookie, correlationId }: Exchange<Action>,
  cors: Cors,
): Response {
  return answer(context, body, reply.status, {
    ...SECURITY_HEADERS,
    ...cors.headers(request),
    "Cache-Control": "no-store",
    ...(reply.body instanceof StreamBody && STREAM_HEADERS),
    ...(row ?? rows[0])?.headers,
    ...(renewedCookie !== undefined && { "Set-Cookie": renewedCookie }),
    ...reply.headers,
    [CORRELATION_HEADER]: correlationId,
    ...(length !== undefined && { "Content-Length": String(length) }),
    ...(reply.body !== undefined && {
      "Content-Type": row?.answers[reply.status]?.contentType ?? "application/json",
    }),
  });
}
