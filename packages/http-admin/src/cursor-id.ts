import { StringDecoder } from "node:string_decoder";
import type { DeadLetterOrder } from "@bridge/ports";

/** In a cursor of base64 it leaves a request far below the 16 KB that its head may have. */
const MAX_BYTES = 2_048;
/** Comes after whatever character goes on. */
const LAST = "\u{10FFFF}";

/**
 * The id after which a list goes on. Of one that somebody has made longer than a request takes: its beginning, in place of all ids that
 * begin so, as `order` comes past them.
 */
export function idInCursor(id: string, order: DeadLetterOrder): string {
  if (Buffer.byteLength(id) <= MAX_BYTES) return id;
  // Half a character at the cut is left out.
  const beginning = new StringDecoder("utf8").write(Buffer.from(id).subarray(0, MAX_BYTES));
  return order === "oldest" ? beginning + LAST : beginning;
}
