import { BridgeError, type ErrorCode } from "@bridge/ports";

/** What each reason code of a broker means to the bridge, and in words. */
const REASONS: Readonly<Record<number, readonly [code: ErrorCode, words: string]>> = {
  0x80: ["UNAVAILABLE", "unspecified error"],
  0x81: ["CONNECTION_LOST", "malformed packet"],
  0x82: ["CONNECTION_LOST", "protocol error"],
  0x83: ["REJECTED", "refused for a reason of the broker's own"],
  0x84: ["FORBIDDEN", "the broker does not speak this protocol_version"],
  0x85: ["REJECTED", "the broker does not accept this client_id: set a shorter or simpler one, or one that it knows"],
  0x86: ["NOT_AUTHORIZED", "bad username or password"],
  0x87: ["NOT_AUTHORIZED", "not authorized"],
  0x88: ["UNAVAILABLE", "server unavailable"],
  0x89: ["UNAVAILABLE", "server busy"],
  0x8a: ["NOT_AUTHORIZED", "banned"],
  0x8b: ["UNAVAILABLE", "server shutting down"],
  0x8c: ["NOT_AUTHORIZED", "bad authentication method"],
  0x8d: ["CONNECTION_LOST", "the broker heard nothing within the keep alive time"],
  0x8e: ["CONNECTION_LOST", "another client connected with the same client_id: it has to be unique for each replica"],
  0x8f: ["DESTINATION_NOT_FOUND", "topic filter not accepted"],
  0x90: ["DESTINATION_NOT_FOUND", "topic name not accepted"],
  0x91: ["UNAVAILABLE", "packet identifier in use"],
  0x93: ["THROTTLED", "receive maximum exceeded"],
  0x95: ["PAYLOAD_TOO_LARGE", "packet too large"],
  0x96: ["THROTTLED", "message rate too high"],
  0x97: ["THROTTLED", "quota exceeded"],
  0x98: ["UNAVAILABLE", "ended by an administrator"],
  0x99: ["INVALID_PAYLOAD", "payload format not accepted"],
  0x9a: ["FORBIDDEN", "the broker keeps no retained messages: set retain to false"],
  0x9b: ["FORBIDDEN", "the broker does not support this qos"],
  0x9c: ["UNAVAILABLE", "use another server"],
  0x9d: ["UNAVAILABLE", "server moved"],
  0x9e: ["FORBIDDEN", "shared subscriptions are not supported"],
  0x9f: ["THROTTLED", "connection rate exceeded"],
  0xa0: ["CONNECTION_LOST", "maximum connect time reached"],
  0xa1: ["FORBIDDEN", "subscription identifiers are not supported"],
  0xa2: ["FORBIDDEN", "wildcard subscriptions are not supported"],
};

/** The return codes of MQTT 3.1.1, as the reason codes that took their place. */
const RETURN_CODES: Readonly<Record<number, number>> = { 1: 0x84, 2: 0x85, 3: 0x88, 4: 0x86, 5: 0x87 };

/** Whether a reason code says that what was asked for was not done. */
export function isFailure(reasonCode: number): boolean {
  return reasonCode >= 0x80;
}

/** The error for a reason code, or for a return code of MQTT 3.1.1. `what` begins the message: what was not done. */
export function reasonError(what: string, code: number, reasonString?: string): BridgeError {
  const reasonCode = RETURN_CODES[code] ?? code;
  const [errorCode, words] = REASONS[reasonCode] ?? ["UNAVAILABLE", "unknown reason"];
  const said =
    reasonString === undefined || reasonString === "" ? "" : `, the broker says "${reasonString.slice(0, 200)}"`;
  return new BridgeError(errorCode, `${what}: ${words} (0x${reasonCode.toString(16).padStart(2, "0")})${said}`);
}
