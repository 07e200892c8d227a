import { BridgeError, type ErrorCode } from "../errors.ts";
import { tlsFailure } from "../tls.ts";

const NO_DESCRIPTOR =
  "there is no file descriptor left for a connection: allow the process more (ulimit -n, LimitNOFILE=)";
const NO_TLS =
  "what answers there does not speak TLS: is this the right port, and does the address have to ask for TLS?";

/** What a failed socket or TLS handshake means, in the words of its error code; all of it is worth another try. */
const CODES: Readonly<Record<string, readonly [code: ErrorCode, words: string]>> = {
  ECONNREFUSED: ["CONNECTION_LOST", "connection refused: nothing listens there"],
  ECONNRESET: ["CONNECTION_LOST", "the connection was reset"],
  EPIPE: ["CONNECTION_LOST", "the connection was closed while writing to it"],
  ENOTFOUND: ["CONNECTION_LOST", "the host name is not known"],
  EAI_AGAIN: ["CONNECTION_LOST", "the host name could not be looked up"],
  EHOSTUNREACH: ["CONNECTION_LOST", "the host cannot be reached"],
  ENETUNREACH: ["CONNECTION_LOST", "the network cannot be reached"],
  ETIMEDOUT: ["TIMEOUT", "the host did not answer"],
  EMFILE: ["CONNECTION_LOST", NO_DESCRIPTOR],
  ENFILE: ["CONNECTION_LOST", NO_DESCRIPTOR],
  ERR_SSL_WRONG_VERSION_NUMBER: ["CONNECTION_LOST", NO_TLS],
  ERR_SSL_PACKET_LENGTH_TOO_LONG: ["CONNECTION_LOST", NO_TLS],
};

/** How OpenSSL says that what it read is no TLS at all. */
const NO_RECORD = /wrong version number|packet length too long|unsupported protocol|record layer/;
const OPENSSL = /SSL routines:[^:]*:([^:]+)/;

/** The error of a socket, at the broker that `label` shows. */
export function networkError(label: string, error: Error): BridgeError {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  const [errorCode, words] = CODES[code] ?? ["CONNECTION_LOST", tlsWords(error) ?? (error.message || code)];
  return new BridgeError(errorCode, `${label}: ${words}`, { cause: error });
}

function tlsWords(error: Error): string | undefined {
  const refused = tlsFailure(error);
  if (refused !== undefined) return refused;
  const { message } = error;
  if (message.includes("before secure TLS connection"))
    return "it closed the connection before TLS was agreed on: does it speak TLS there?";
  const [, reason] = OPENSSL.exec(message) ?? [];
  if (reason === undefined) return undefined;
  return NO_RECORD.test(reason) ? NO_TLS : `TLS could not be agreed on: ${reason}`;
}
