import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { answerOf, type Refusal } from "./refusal.ts";

/** What the parser refuses before there is a request, by its code; anything else is 400. */
const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: { status: 431, message: "request headers too large" },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: "chunk extensions too large" },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: "the request was not complete in time" },
};
const MALFORMED: Refusal = { status: 400, message: "malformed request" };

/** What is answered to a fault of the parser or of the connection; `undefined` when there is nobody to answer. */
export function refusalOf({ code = "" }: NodeJS.ErrnoException): Refusal | undefined {
  return code === "ECONNRESET" ? undefined : (REFUSALS[code] ?? MALFORMED);
}

/**
 * Answers, on the bare socket, what never became a request. `last` is the response that the socket was last used for, or
 * that requests wait: nobody may take this answer for that one, nor for a second one to that request.
 */
export function refuseOnSocket(
  refusal: Refusal | undefined,
  socket: Duplex,
  last: ServerResponse | "waiting" | undefined,
  ownHeaders: Readonly<Record<string, string>>,
): void {
  if (refusal === undefined || !socket.writable || (last !== undefined && !mayAnswerAfter(last))) {
    socket.destroy();
    return;
  }
  const { headers, body } = answerOf(refusal, ownHeaders);
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const { status } = refusal;
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${head.join("")}\r\n${body}`, () => socket.destroy());
}

/** Whether what went wrong is the request of `last` itself, not answered yet, or one that came after its answer. */
function mayAnswerAfter(last: ServerResponse | "waiting"): boolean {
  if (last === "waiting") return false;
  return last.headersSent ? last.writableFinished && last.req.complete : !last.req.complete;
}
