import type { Logger } from "@bridge/ports";
import type { Ending } from "./exit-codes.ts";
import { messageOf } from "./message-of.ts";

/** Tells why, at the end of a start that has failed. */
export function notStarted(error: unknown, logger: Logger): Ending {
  logger.error("the bridge cannot start", { error: messageOf(error) });
  return "not_started";
}
