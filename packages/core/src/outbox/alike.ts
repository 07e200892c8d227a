import type { BridgeError } from "@bridge/ports";

/** Text that differs from call to call: request ids, times, counts. */
const OF_ONE_CALL = /[\w-]*\d[\w-]*/g;

/** Whether two failures are the same, apart from text that differs from call to call. */
export function isAlike(one: BridgeError | undefined, other: BridgeError): boolean {
  return one?.code === other.code && wordsOf(one) === wordsOf(other);
}

function wordsOf({ message }: BridgeError): string {
  return message.replace(OF_ONE_CALL, "");
}
