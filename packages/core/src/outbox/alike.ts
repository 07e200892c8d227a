import type { BridgeError } from "@bridge/ports";

/** What stands for one call alone: ids of requests, times, counts. */
const OF_ONE_CALL = /[\w-]*\d[\w-]*/g;

/** Whether two failures say the same, but for what differs from one call to the next. */
export function isAlike(one: BridgeError | undefined, other: BridgeError): boolean {
  return one?.code === other.code && wordsOf(one) === wordsOf(other);
}

function wordsOf({ message }: BridgeError): string {
  return message.replace(OF_ONE_CALL, "");
}
