import { networkError } from "@bridge/ports/internal";
import { BridgeError, type ErrorCode } from "@bridge/ports";
import { Malformed } from "./codec/byte-reader.ts";
import { VhostRefusal } from "./connection/handshake.ts";
import { Refusal } from "./connection/refusal.ts";

/** What each reply code of a broker means to the bridge, and in words. */
const REPLIES: Readonly<Record<number, readonly [code: ErrorCode, words: string]>> = {
  311: ["PAYLOAD_TOO_LARGE", "content too large"],
  312: ["DESTINATION_NOT_FOUND", "no queue takes the message"],
  313: ["UNAVAILABLE", "no consumers"],
  320: ["CONNECTION_LOST", "closed by the broker or its operator"],
  402: ["DESTINATION_NOT_FOUND", "no such virtual host"],
  403: ["NOT_AUTHORIZED", "access refused"],
  404: ["DESTINATION_NOT_FOUND", "not found"],
  405: ["UNAVAILABLE", "another connection has it for itself"],
  406: ["REJECTED", "precondition failed"],
  501: ["CONNECTION_LOST", "frame error"],
  502: ["CONNECTION_LOST", "syntax error"],
  503: ["CONNECTION_LOST", "command invalid"],
  504: ["CONNECTION_LOST", "channel error"],
  505: ["CONNECTION_LOST", "unexpected frame"],
  506: ["UNAVAILABLE", "not enough resources"],
  530: ["FORBIDDEN", "not allowed"],
  540: ["FORBIDDEN", "the broker cannot do that"],
  541: ["UNAVAILABLE", "internal error of the broker"],
};

/** Brokers repeat routing keys, which may come from a message. */
const TOPIC = /topic '[^']*'/;
const MAX_SHOWN = 200;

/** The error for a reply code. `what` begins the message: what was not done. */
export function replyError(what: string, code: number, said = ""): BridgeError {
  const [errorCode, words] = REPLIES[code] ?? ["UNAVAILABLE", "unknown reason"];
  const quoted = said === "" ? "" : `, the broker says "${said.replace(TOPIC, "topic").slice(0, MAX_SHOWN)}"`;
  return new BridgeError(errorCode, `${what}: ${words} (${code})${quoted}`);
}

/** The error of a failed attempt to connect to the broker that `label` shows. */
export function connectError(label: string, error: Error | undefined): BridgeError {
  if (error instanceof VhostRefusal)
    return replyError(`${label}: the broker does not open the virtual host`, error.code, error.said);
  if (error instanceof Refusal)
    return replyError(`${label}: the broker refused the connection`, error.code, error.said);
  if (error instanceof Malformed)
    return new BridgeError(
      "CONNECTION_LOST",
      `${label}: no broker of AMQP 0-9-1 answers there, it sent ${error.message}`,
    );
  if (error === undefined)
    return new BridgeError("CONNECTION_LOST", `${label}: the broker closed the connection while it was being opened`);
  return networkError(label, error);
}

/** The error of a connection that was lost. */
export function lossError(label: string, error: Error | undefined): BridgeError {
  if (error instanceof Refusal) return replyError(`${label}: the broker ended the connection`, error.code, error.said);
  if (error instanceof Malformed)
    return new BridgeError(
      "CONNECTION_LOST",
      `${label}: the broker sent what AMQP 0-9-1 does not know, ${error.message}`,
    );
  if (error === undefined)
    return new BridgeError("CONNECTION_LOST", `${label}: the connection was closed by the broker`);
  return networkError(label, error);
}

/** An error of the connection as its sends see it: whatever its reason, another connection may have the message. */
export function asTransient(error: BridgeError, charged: boolean): BridgeError {
  const code = error.class === "transient" ? error.code : "CONNECTION_LOST";
  return new BridgeError(code, error.message, { cause: error, charged });
}
