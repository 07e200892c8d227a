import { BridgeError, type ErrorCode } from "@bridge/ports";

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
  SELF_SIGNED_CERT_IN_CHAIN: ["CONNECTION_LOST", "its certificate is not trusted: name its authority in tls.ca_file"],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["CONNECTION_LOST", "its certificate is not trusted: name it in tls.ca_file"],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: [
    "CONNECTION_LOST",
    "its certificate is not trusted: name its authority in tls.ca_file",
  ],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: [
    "CONNECTION_LOST",
    "its certificate is not trusted: name its authority in tls.ca_file",
  ],
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: [
    "CONNECTION_LOST",
    "it asks for a certificate of the bridge: set tls.cert_file and tls.key_file",
  ],
  CERT_HAS_EXPIRED: ["CONNECTION_LOST", "its certificate has expired"],
  ERR_TLS_CERT_ALTNAME_INVALID: ["CONNECTION_LOST", "its certificate is for another host name"],
};

/** The error of a socket, at the broker that `label` shows. */
export function networkError(label: string, error: Error): BridgeError {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  const [errorCode, words] = CODES[code] ?? ["CONNECTION_LOST", error.message === "" ? code : error.message];
  return new BridgeError(errorCode, `${label}: ${words}`, { cause: error });
}
