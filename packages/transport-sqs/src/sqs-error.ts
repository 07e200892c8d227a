import type { BatchResultErrorEntry } from "@aws-sdk/client-sqs";
import { BridgeError, type ErrorCode } from "@bridge/ports";
import { NoCredentialsError } from "@bridge/ports/internal";

/** What SQS calls it, and what the engine makes of it: the README's table. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  QueueDoesNotExist: "DESTINATION_NOT_FOUND",
  NonExistentQueue: "DESTINATION_NOT_FOUND",
  QueueDeletedRecently: "DESTINATION_NOT_FOUND",
  ResourceNotFoundException: "DESTINATION_NOT_FOUND",
  InvalidAddress: "DESTINATION_NOT_FOUND",
  AccessDenied: "FORBIDDEN",
  AccessDeniedException: "FORBIDDEN",
  KmsAccessDenied: "FORBIDDEN",
  KmsInvalidKeyUsage: "FORBIDDEN",
  KmsOptInRequired: "FORBIDDEN",
  OptInRequired: "FORBIDDEN",
  InvalidSecurity: "NOT_AUTHORIZED",
  InvalidClientTokenId: "NOT_AUTHORIZED",
  InvalidSignatureException: "NOT_AUTHORIZED",
  SignatureDoesNotMatch: "NOT_AUTHORIZED",
  UnrecognizedClientException: "NOT_AUTHORIZED",
  MissingAuthenticationToken: "NOT_AUTHORIZED",
  MissingAuthenticationTokenException: "NOT_AUTHORIZED",
  IncompleteSignature: "NOT_AUTHORIZED",
  // The SDK gets new credentials by itself, so the next attempt may do.
  ExpiredToken: "UNAVAILABLE",
  ExpiredTokenException: "UNAVAILABLE",
  RequestExpired: "UNAVAILABLE",
  RequestInTheFuture: "UNAVAILABLE",
  RequestTimeTooSkewed: "UNAVAILABLE",
  // Somebody may switch the key on again.
  KmsDisabled: "UNAVAILABLE",
  KmsInvalidState: "UNAVAILABLE",
  KmsNotFound: "UNAVAILABLE",
  InternalError: "UNAVAILABLE",
  InternalFailure: "UNAVAILABLE",
  InternalServerError: "UNAVAILABLE",
  ServiceUnavailable: "UNAVAILABLE",
  ServiceUnavailableException: "UNAVAILABLE",
  RequestThrottled: "THROTTLED",
  KmsThrottled: "THROTTLED",
  Throttling: "THROTTLED",
  ThrottlingException: "THROTTLED",
  ThrottledException: "THROTTLED",
  RequestLimitExceeded: "THROTTLED",
  TooManyRequestsException: "THROTTLED",
  OverLimit: "THROTTLED",
  RequestTimeout: "TIMEOUT",
  RequestTimeoutException: "TIMEOUT",
  TimeoutError: "TIMEOUT",
  BatchRequestTooLong: "PAYLOAD_TOO_LARGE",
  MessageTooLong: "PAYLOAD_TOO_LARGE",
  InvalidMessageContents: "INVALID_PAYLOAD",
  InvalidParameterValue: "INVALID_PAYLOAD",
  InvalidParameterCombination: "INVALID_PAYLOAD",
  InvalidAttributeName: "INVALID_PAYLOAD",
  InvalidAttributeValue: "INVALID_PAYLOAD",
  MissingParameter: "INVALID_PAYLOAD",
  MissingRequiredParameterException: "INVALID_PAYLOAD",
  ValidationException: "INVALID_PAYLOAD",
  UnsupportedOperation: "REJECTED",
};

/** What a receipt handle that means nothing any more is called. */
const HANDLE_GONE: ReadonlySet<string> = new Set([
  "ReceiptHandleIsInvalid",
  "MessageNotInflight",
  "InvalidParameterValue",
  "InvalidIdFormat",
]);

/** What a request is refused with that was signed by a clock that is wrong; its signature or rights may be wrong as well. */
const SKEWED: ReadonlySet<string> = new Set([
  "AccessDeniedException",
  "AuthFailure",
  "InvalidSignatureException",
  "RequestExpired",
  "RequestInTheFuture",
  "RequestTimeTooSkewed",
  "SignatureDoesNotMatch",
]);

const NO_REGION =
  "no usable AWS region is configured: set AWS_REGION, or a region in the AWS profile, to one such as eu-central-1";
const NO_NAME = "no name";
/** As SQS and the SDK name errors. What else stands there may be anything, such as what was sent. */
const NAME = /^[A-Za-z]\w{0,63}$/;
/** What the SDK calls an answer that names no error, as all of SQS do: somebody in between has made it. */
const NOT_OF_SQS: ReadonlySet<string> = new Set([NO_NAME, "SyntaxError", "TypeError", "Unknown"]);

/** The code of a connection that could not be made, or broke. */
const NETWORK = /^E(?:CONN|HOST|NET|PIPE|AI_|ADDR)|^ENOTFOUND$|^UND_/;

interface SdkError {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
  /** What came, when there was an answer. */
  readonly $response?: unknown;
}

/**
 * A failed request, as the engine wants to know it. Goes by the error's name, never by its message: that of an answer that
 * cannot be read repeats it, with what messages hold. So such an error is not passed on as a cause either.
 */
export function sqsError(what: string, thrown: unknown): BridgeError {
  if (BridgeError.is(thrown)) return thrown;
  const { name, code, $metadata, $response } = (thrown ?? {}) as SdkError;
  const plain = plainName(name);
  const network = typeof code === "string" && NETWORK.test(code);
  // No request was made: there are no credentials right now.
  if (plain === "CredentialsProviderError" || plain === "TokenProviderError") {
    const why = thrown instanceof NoCredentialsError ? `: ${thrown.message}` : "";
    return new BridgeError("UNAVAILABLE", `${what}: ${plain}${why}`, { charged: false });
  }
  const found = CODES[plain] ?? (network ? "CONNECTION_LOST" : byStatus($metadata?.httpStatusCode));
  if ($response !== undefined && found !== "THROTTLED" && (found === "INTERNAL" || NOT_OF_SQS.has(plain))) {
    const status = $metadata?.httpStatusCode === undefined ? "" : `, status ${$metadata.httpStatusCode}`;
    return new BridgeError("UNAVAILABLE", `${what}: the answer is none of SQS, or was cut off (${plain}${status})`);
  }
  // A connection that breaks while it is used is called a timeout by the library.
  const broken = found === "TIMEOUT" && network ? "CONNECTION_LOST" : found;
  const shown = network ? code : plain;
  if (broken !== "INTERNAL" || !(thrown instanceof Error)) return new BridgeError(broken, `${what}: ${shown}`);
  // Nothing was answered, so it is the SDK's own.
  const said = thrown.message.startsWith("Region ") ? NO_REGION : `${shown}: ${thrown.message}`;
  return new BridgeError(broken, `${what}: ${said}`);
}

/** Whether a request may have been refused because it was signed by a wrong clock. */
export function maySkew(thrown: unknown): boolean {
  return SKEWED.has(plainName((thrown as SdkError | undefined)?.name));
}

/** A failed entry of a batch. What SQS takes the blame for is no refusal of the message. */
export function entryError(what: string, { Code, SenderFault }: BatchResultErrorEntry): BridgeError {
  const plain = plainName(Code);
  const error = new BridgeError(CODES[plain] ?? "INTERNAL", `${what}: ${plain}`);
  if (SenderFault !== false || error.class === "transient") return error;
  return new BridgeError("INTERNAL", error.message);
}

/** Whether a failed entry says that the message is not ours any more. */
export function isHandleGone({ Code, SenderFault }: BatchResultErrorEntry): boolean {
  return SenderFault !== false && HANDLE_GONE.has(plainName(Code));
}

/** Older names have a namespace before them. */
function plainName(name: unknown): string {
  if (typeof name !== "string") return NO_NAME;
  const plain = name.slice(Math.max(name.lastIndexOf("."), name.lastIndexOf("#")) + 1);
  return NAME.test(plain) ? plain : NO_NAME;
}

function byStatus(status: number | undefined): ErrorCode {
  if (status === undefined) return "INTERNAL";
  if (status === 429) return "THROTTLED";
  if (status >= 500) return "UNAVAILABLE";
  if (status === 401) return "NOT_AUTHORIZED";
  if (status === 403) return "FORBIDDEN";
  if (status === 404) return "DESTINATION_NOT_FOUND";
  return status >= 400 ? "REJECTED" : "INTERNAL";
}
