import { BridgeError } from "../errors.ts";
import { describe, integer } from "../options.ts";
import * as v from "valibot";

const MIN_BYTES = 1_024;
/** The longest packet that MQTT can announce. */
const MAX_BYTES = 268_435_455;
const DEFAULT_BYTES = 16 * 1024 * 1024;

/** The option `max_message_bytes` of a session: what a server may announce before it is refused. */
export const maxMessageBytes = describe(
  v.optional(integer(MIN_BYTES, MAX_BYTES), DEFAULT_BYTES),
  "The largest message, headers included, that the bridge takes in. If a message is announced as larger, the connection ends before it is read.",
);

/** Why a connection is ended on which the server that `label` shows has announced more than `limit` bytes. */
export function messageTooLarge(label: string, size: number, limit: number): BridgeError {
  return new BridgeError(
    "CONNECTION_LOST",
    `${label}: a message of ${size} bytes was announced and is not read, as max_message_bytes is ${limit}: raise it, or take the message out at the server`,
  );
}
