import { BridgeError, type ErrorCode } from "@bridge/ports";
import { strangerError } from "@bridge/ports/internal";
import { tlsFailure } from "@bridge/ports/tls";
import type { Answer } from "./call.ts";
import { retryAfterMs } from "./retry-after.ts";

/** Statuses with a code of their own; the rest goes by its hundred (contract §5). */
const CODES: Readonly<Record<number, ErrorCode>> = {
  400: "INVALID_PAYLOAD",
  401: "NOT_AUTHORIZED",
  403: "FORBIDDEN",
  404: "DESTINATION_NOT_FOUND",
  405: "DESTINATION_NOT_FOUND",
  408: "TIMEOUT",
  410: "DESTINATION_NOT_FOUND",
  413: "PAYLOAD_TOO_LARGE",
  415: "INVALID_PAYLOAD",
  422: "SCHEMA_VIOLATION",
  425: "THROTTLED",
  429: "THROTTLED",
};

export function isAcceptance({ status }: Answer): boolean {
  return status < 300;
}

/** Why a response is no acceptance. `now` is epoch milliseconds. */
export function failureOf({ status, retryAfter }: Answer, origin: string, now: number): BridgeError {
  const code = CODES[status] ?? (status >= 500 ? "UNAVAILABLE" : "REJECTED");
  const wait = code === "THROTTLED" || code === "UNAVAILABLE" ? retryAfterMs(retryAfter, now) : undefined;
  return new BridgeError(code, `${origin} answered ${status}`, { retryAfterMs: wait });
}

/** Why there was no response: the target could not be reached, or the connection or what came over it broke. */
export function failureWithout(thrown: unknown, origin: string): BridgeError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const code = "code" in error ? String(error.code) : "";
  // undici refuses what is not HTTP before it sends it. That would be a bug of this sender, not a lost connection.
  if (code === "UND_ERR_INVALID_ARG") {
    return new BridgeError("INTERNAL", `a request to ${origin} could not be made`, { cause: error });
  }
  const stranger = strangerIn(error);
  if (stranger !== undefined) return strangerError(origin, "HTTP", stranger);
  const why = BridgeError.is(error)
    ? error.message
    : (tlsFailure(error) ?? WORDS[code] ?? (code === "" ? error.message : code));
  return new BridgeError("CONNECTION_LOST", `no response from ${origin}: ${why}`, { cause: error });
}

/** What undici has only codes for. */
const WORDS: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: "the connection was closed before there was a whole answer",
  UND_ERR_HEADERS_OVERFLOW: "the headers of the answer are too large",
};

/** What was said that is no HTTP. The error of the parser may have no code, or one of the parser's own. */
function strangerIn(error: Error): Uint8Array | undefined {
  if (error.name !== "HTTPParserError") return undefined;
  const { data } = error as { readonly data?: unknown };
  const rest = typeof data === "string" ? data : "";
  // The parser takes the first letter of a NATS server's INFO for that of ICE, and says what came behind it.
  return Buffer.from(rest.startsWith("NFO {") ? `I${rest}` : rest, "latin1");
}
