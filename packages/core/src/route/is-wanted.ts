import type { Delivery } from "@bridge/ports";
import type { Surprises } from "./surprises.ts";

/** Whether somebody waits for the answer to `delivery` still. A source that fails when it is asked is told of in the log, and says yes. */
export function isWanted(delivery: Delivery, receiverId: string, surprises: Surprises): boolean {
  try {
    return delivery.begin?.() !== false;
  } catch (thrown) {
    surprises.tell(`receiver ${receiverId}`, thrown);
    return true;
  }
}
