import type { Delivery } from "@bridge/ports";
import type { Surprises } from "./surprises.ts";

/**
 * Whether a caller still waits for the answer to `delivery`. If the source throws when asked, this logs the error and
 * returns `true`.
 */
export function isWanted(delivery: Delivery, receiverId: string, surprises: Surprises): boolean {
  try {
    return delivery.begin?.() !== false;
  } catch (thrown) {
    surprises.tell(`receiver ${receiverId}`, thrown);
    return true;
  }
}
