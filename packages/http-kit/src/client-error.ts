import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { CORRELATION_HEADER, SECURITY_HEADERS } from "./common-headers.ts";

/** What the parser refuses before there is a request, by its code; anything else is 400. */
const STATUS: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "request headers too large"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "chunk extensions too large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "the request was not complete in time"],
};

/**
 * Answers, on the bare socket, what never became a request, as all errors are answered: as JSON. `current` is the
 * response that the socket was last used for; one that has begun cannot be interrupted by another.
 */
export function refuseOnSocket(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  current: ServerResponse | undefined,
  correlationId: string,
): void {
  const busy = current !== undefined && current.headersSent && !current.writableFinished;
  if (error.code === "ECONNRESET" || !socket.writable || busy) {
    socket.destroy();
    return;
  }
  const [status, message] = STATUS[error.code ?? ""] ?? [400, "malformed request"];
  const body = JSON.stringify({ error: message });
  const headers = {
    "Content-Type": "application/json",
    "Content-Length": String(Buffer.byteLength(body)),
    Connection: "close",
    [CORRELATION_HEADER]: correlationId,
    ...SECURITY_HEADERS,
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${head.join("")}\r\n${body}`, () => socket.destroy());
}
