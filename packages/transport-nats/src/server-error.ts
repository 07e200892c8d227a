import { networkError } from "@bridge/ports/internal";
import { BridgeError, type ErrorCode } from "@bridge/ports";
import { JetStreamApiCodes, JetStreamApiError } from "@nats-io/jetstream";
import {
  AuthorizationError,
  PermissionViolationError,
  TimeoutError,
  UserAuthenticationExpiredError,
} from "@nats-io/transport-node";

/** What JetStream's own error codes mean, where that does not follow from the class of the answer. */
const API_CODES: Readonly<Record<number, ErrorCode>> = {
  /** The message is larger than the stream takes. */
  10054: "PAYLOAD_TOO_LARGE",
  /** The stream that was expected is not the one that takes this subject. */
  10060: "DESTINATION_NOT_FOUND",
  /** JetStream is not enabled for the account. */
  10039: "DESTINATION_NOT_FOUND",
  /** The stream is sealed. */
  10109: "REJECTED",
};
const MAX_SHOWN = 200;
const SILENT = ", not with a word, though NATS servers speak first: is this the NATS port?";
/** How the library says that it was told to speak TLS, and the server does not. */
const NO_TLS = "server does not support 'tls'";

/** An answer of JetStream that says no. */
export interface ApiError {
  readonly code?: number;
  readonly err_code?: number;
  readonly description?: string;
}

/** The error of an answer that says no. `what` begins the message: what was not done. */
export function apiError(what: string, { code = 0, err_code = 0, description = "" }: ApiError): BridgeError {
  const said = description === "" ? "" : `, the server says "${description.slice(0, MAX_SHOWN)}"`;
  return new BridgeError(API_CODES[err_code] ?? codeOf(code), `${what}: ${code} (${err_code})${said}`);
}

/** The error of a request to JetStream that failed. */
export function requestError(what: string, thrown: unknown): BridgeError {
  if (BridgeError.is(thrown)) return thrown;
  const error = thrown as Error;
  const said = error instanceof JetStreamApiError ? error : error.cause;
  if (said instanceof JetStreamApiError) return apiError(what, said.apiError());
  if (isNotAnswered(error))
    return new BridgeError("UNAVAILABLE", `${what}: JetStream does not answer`, { cause: error });
  if (error instanceof TimeoutError)
    return new BridgeError("TIMEOUT", `${what}: JetStream has not answered in time`, { cause: error });
  const violation = error instanceof PermissionViolationError ? error : error.cause;
  if (violation instanceof PermissionViolationError)
    return new BridgeError("FORBIDDEN", `${what}: ${violation.message.slice(0, MAX_SHOWN)}`, { cause: error });
  return new BridgeError("CONNECTION_LOST", `${what}: ${error.message}`, { cause: error });
}

/** Whether JetStream says that there is no such stream, or no such consumer. */
export function isNotFound(error: unknown): boolean {
  if (!(error instanceof JetStreamApiError)) return false;
  return error.code === JetStreamApiCodes.StreamNotFound || isConsumerNotFound(error);
}

export function isConsumerNotFound(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === JetStreamApiCodes.ConsumerNotFound;
}

/** Whether nobody listens where JetStream should. */
function isNotAnswered({ name, cause }: Error): boolean {
  return name === "JetStreamNotEnabled" && !(cause instanceof JetStreamApiError);
}

/** The error of a failed attempt to connect to the server that `label` shows; `silent` when that has said nothing. */
export function connectError(label: string, error: Error, silent: boolean): BridgeError {
  if (error instanceof AuthorizationError || error instanceof UserAuthenticationExpiredError)
    return new BridgeError("NOT_AUTHORIZED", `${label}: the server says "${error.message.slice(0, MAX_SHOWN)}"`);
  if (error instanceof TimeoutError || (BridgeError.is(error) && error.code === "TIMEOUT"))
    return new BridgeError("TIMEOUT", `${label}: the server has not answered in time${silent ? SILENT : ""}`);
  if (error instanceof SyntaxError) return unreadable(label, error);
  if (error.message === NO_TLS)
    return new BridgeError(
      "CONNECTION_LOST",
      `${label}: the server does not offer TLS: write its address as "nats://"`,
    );
  if (error.message.includes("undefined error"))
    return new BridgeError("CONNECTION_LOST", `${label}: the connection was closed while it was being opened`);
  return networkError(label, error.cause instanceof Error ? error.cause : error);
}

/** The error of a connection on which something came that nobody can read. It is not repeated, as it may be a message. */
export function unreadable(label: string, thrown: unknown): BridgeError {
  if (BridgeError.is(thrown)) return thrown;
  return new BridgeError("CONNECTION_LOST", `${label}: the server has sent what is not its protocol`, {
    cause: thrown,
  });
}

/** The error of a connection that was lost. */
export function lossError(label: string, error: Error | undefined): BridgeError {
  if (error === undefined)
    return new BridgeError("CONNECTION_LOST", `${label}: the connection was closed by the server`);
  if ((error as NodeJS.ErrnoException).code !== undefined) return networkError(label, error);
  const said = error.message.slice(0, MAX_SHOWN);
  return new BridgeError("CONNECTION_LOST", `${label}: the server ended the connection: "${said}"`);
}

function codeOf(code: number): ErrorCode {
  if (code === 404) return "DESTINATION_NOT_FOUND";
  if (code === 403) return "FORBIDDEN";
  if (code === 408) return "TIMEOUT";
  return code >= 400 && code < 500 ? "REJECTED" : "UNAVAILABLE";
}
