import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

/** What the parser refuses before there is a request, by its code; anything else is 400. */
const STATUS: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "request headers too large"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "chunk extensions too large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "the request was not complete in time"],
};

/**
 * Answers, on the bare socket, what never became a request, as all errors are answered: as JSON. `last` is the response
 * that the socket was last used for, or that requests wait: nobody may take this answer for that one, nor for a second one to that request.
 */
export function refuseOnSocket(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  last: ServerResponse | "waiting" | undefined,
  headers: Readonly<Record<string, string>>,
): void {
  if (error.code === "ECONNRESET" || !socket.writable || (last !== undefined && !mayAnswerAfter(last))) {
    socket.destroy();
    return;
  }
  const [status, message] = STATUS[error.code ?? ""] ?? [400, "malformed request"];
  const body = JSON.stringify({ error: message });
  const all = {
    "Content-Type": "application/json",
    "Content-Length": String(Buffer.byteLength(body)),
    Connection: "close",
    ...headers,
  };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${head.join("")}\r\n${body}`, () => socket.destroy());
}

/** Whether what went wrong is the request of `last` itself, not answered yet, or one that came after its answer. */
function mayAnswerAfter(last: ServerResponse | "waiting"): boolean {
  if (last === "waiting") return false;
  return last.headersSent ? last.writableFinished && last.req.complete : !last.req.complete;
}
