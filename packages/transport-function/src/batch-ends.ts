import { types } from "node:util";
import { isError } from "./failure.ts";
import { kindOf } from "@bridge/ports/internal";

/** How a message of a batch ended: with why it failed, or well. */
export type End = { readonly failed: unknown } | undefined;

/**
 * Reads what a batch handler has returned. What is not clear accepts nothing: a message that is tried again is better than
 * one that is lost.
 * @throws Error when it says nothing of the messages, or of another number of them
 */
export function batchEnds(who: string, returned: unknown, count: number): readonly End[] {
  const ends = Array.from({ length: count }, (): End => undefined);
  if (returned === undefined) return ends;
  if (!Array.isArray(returned)) {
    throw new TypeError(
      `${who} returned ${kindOf(returned)}: it has to return nothing, or an array with an Error or undefined for each message`,
    );
  }
  if (returned.length !== count) {
    for (const entry of returned) leave(entry);
    throw new RangeError(
      `${who} returned ${returned.length} ${returned.length === 1 ? "entry" : "entries"} for ${count} messages, so nothing says which failed: return one for each, or nothing when all are accepted`,
    );
  }
  return ends.map((_, index) => endOf(who, returned[index], index));
}

function endOf(who: string, entry: unknown, index: number): End {
  if (entry === undefined) return undefined;
  if (isError(entry)) return { failed: entry };
  leave(entry);
  const text = `${who} returned ${kindOf(entry)} for message ${index}: it has to be an Error when the message failed, else undefined`;
  return { failed: new TypeError(text) };
}

/** Nobody waits for a promise that stands in for an end, and one that rejects unheard ends the process. */
function leave(entry: unknown): void {
  if (types.isPromise(entry)) entry.catch(() => {});
}
