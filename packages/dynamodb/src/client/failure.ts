import { BridgeError, type ErrorCode } from "@bridge/ports";
import { NoCredentialsError } from "@bridge/ports/internal";
import { endpointOf } from "./asked-endpoint.ts";

/** What a failed try of a request comes to. */
export interface Failure {
  readonly error: BridgeError;
  /** Whether the same request may succeed a little later. */
  readonly again: boolean;
  /** Whether the service may have done what it was asked for all the same. */
  readonly unsure: boolean;
}

type Verdict = Omit<Failure, "error"> & { readonly code: ErrorCode; readonly why: string };

const THROTTLED: Verdict = { code: "THROTTLED", again: true, unsure: false, why: "throttled" };
const UNAVAILABLE: Verdict = { code: "UNAVAILABLE", again: true, unsure: true, why: "the service failed" };
const TIMEOUT: Verdict = { code: "TIMEOUT", again: true, unsure: true, why: "no answer in time" };
const CUT: Verdict = { code: "CONNECTION_LOST", again: true, unsure: true, why: "the connection was lost" };
const SKEWED: Verdict = {
  ...UNAVAILABLE,
  again: false,
  unsure: false,
  why: "signed by a clock that is wrong; set the clock of this machine",
};
const FOREIGN: Verdict = {
  ...CUT,
  why: "the answer is none of DynamoDB's, or was cut off; look at what is in between, such as a proxy, and at AWS_ENDPOINT_URL_DYNAMODB",
};
const UNREACHABLE: Verdict = { ...CUT, unsure: false, why: "the service cannot be reached" };
const REFUSED: Verdict = { code: "REJECTED", again: false, unsure: false, why: "the service refuses the request" };
const TOO_LARGE: Verdict = { ...REFUSED, code: "PAYLOAD_TOO_LARGE", why: "the request is too large" };
const NO_TABLE: Verdict = {
  ...REFUSED,
  code: "DESTINATION_NOT_FOUND",
  why: "there is no such table for this account and region; make it (bridge-aws -create-tables), or correct table_name",
};
const NOT_AUTHORIZED: Verdict = {
  ...REFUSED,
  code: "NOT_AUTHORIZED",
  why: "not allowed; check the credentials and the policies of the role",
};
const UNKNOWN: Verdict = { ...REFUSED, code: "INTERNAL", why: "failed" };

/** By the name of the error: texts differ between releases and emulators. */
const BY_NAME: Readonly<Record<string, Verdict>> = {
  ...all(THROTTLED, [
    "BandwidthLimitExceeded",
    "LimitExceededException",
    "PriorRequestNotComplete",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "RequestThrottledException",
    "SlowDown",
    "ThrottledException",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
    "TransactionConflictException",
    "TransactionInProgressException",
  ]),
  ...all(UNAVAILABLE, [
    "InternalFailure",
    "InternalServerError",
    "InternalServerErrorException",
    "ReplicatedWriteConflictException",
    "ServiceUnavailable",
    "ServiceUnavailableException",
  ]),
  ...all(SKEWED, ["RequestExpired", "RequestInTheFuture", "RequestTimeTooSkewed"]),
  ...all(TIMEOUT, ["RequestTimeout", "RequestTimeoutException", "TimeoutError"]),
  ...all(NO_TABLE, ["ResourceNotFoundException", "TableNotFoundException"]),
  ...all(TOO_LARGE, ["ItemCollectionSizeLimitExceededException", "RequestEntityTooLarge"]),
  ...all(NOT_AUTHORIZED, [
    "AccessDeniedException",
    "CredentialsProviderError",
    "ExpiredToken",
    "ExpiredTokenException",
    "IncompleteSignatureException",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "KMSAccessDeniedException",
    "MissingAuthenticationTokenException",
    "SignatureDoesNotMatch",
    "TokenProviderError",
    "UnrecognizedClientException",
  ]),
  ...all(REFUSED, [
    "ConditionalCheckFailedException",
    "ResourceInUseException",
    "SerializationException",
    "UnknownOperationException",
    "ValidationException",
  ]),
};

/** By the code of the platform; the client renames some of these errors, so it is looked at first. */
const BY_CODE: Readonly<Record<string, Verdict>> = {
  ...all(UNREACHABLE, ["EAI_AGAIN", "ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND"]),
  ...all(CUT, ["ECONNABORTED", "ECONNRESET", "EPIPE"]),
  ...all(TIMEOUT, ["ETIMEDOUT"]),
};

/** What the client calls an answer that names no error, as all of the service do. */
const NOT_OF_DYNAMODB: ReadonlySet<string> = new Set(["NoReceipt", "SyntaxError", "TypeError", "Unknown"]);

interface Thrown {
  readonly name?: string;
  readonly code?: unknown;
  /** What came, when there was an answer. */
  readonly $response?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number; readonly requestId?: string };
}

interface Cause {
  readonly serviceError: string;
}

/** No answer within the time that one try has. */
export class NoAnswer extends Error {
  override readonly name = "TimeoutError";
}

/**
 * The failure behind what the client threw. Its text is made here: the service's own may repeat keys and values of the
 * item, so neither it nor its error is passed on. `clockCorrected`: with the answer the client has learnt that the clocks are
 * apart, and signs the next request by the service's.
 */
export function failureOf(thrown: unknown, what: string, clockCorrected = false): Failure {
  const { name = "Error", code, $metadata = {}, $response } = (thrown ?? {}) as Thrown;
  const { httpStatusCode: status = 0, requestId } = $metadata;
  const isForeign = (name === "NoReceipt" || $response !== undefined) && NOT_OF_DYNAMODB.has(name);
  const verdict =
    (typeof code === "string" ? BY_CODE[code] : undefined) ??
    (isForeign ? FOREIGN : undefined) ??
    BY_NAME[name] ??
    (status >= 500 ? UNAVAILABLE : UNKNOWN);
  const from = isForeign ? ` from ${endpointOf(thrown) ?? "somewhere"}, status ${status || 200}` : "";
  const missing = thrown instanceof NoCredentialsError ? `: ${thrown.message}` : "";
  const detail = (typeof code === "string" ? code : name) + from + missing;
  const request = requestId === undefined ? "" : `, request ${requestId}`;
  return {
    error: new BridgeError(verdict.code, `${what}: ${verdict.why} (${detail}${request})`, {
      cause: { serviceError: name } satisfies Cause,
      charged: false,
    }),
    again: verdict.again || clockCorrected,
    unsure: verdict.unsure,
  };
}

/** The service's own name for an error that {@link failureOf} has made; `undefined` for any other. */
export function serviceErrorOf(error: unknown): string | undefined {
  return BridgeError.is(error) ? (error.cause as Partial<Cause> | undefined)?.serviceError : undefined;
}

export function isConditionFailed(thrown: unknown): boolean {
  return (thrown as Thrown | undefined)?.name === "ConditionalCheckFailedException";
}

function all(verdict: Verdict, names: readonly string[]): Record<string, Verdict> {
  return Object.fromEntries(names.map((name) => [name, verdict]));
}
