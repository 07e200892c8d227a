import type { RateLimited } from "@bridge/ports";
import { givenOptions } from "@bridge/ports/internal";

/** What a handler may have besides its function. In a document these are keys of its sender. */
export type HandlerOptions = RateLimited;

/** @throws TypeError when `options` are none, or have a key that `who` does not know */
export function checkOptions(who: string, options: unknown, known: readonly string[]): void {
  if (options === undefined) return;
  const given = givenOptions(who, options as object, `an object with ${known.join(", ")}`);
  const unknown = Object.keys(given).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    throw new TypeError(`${who} knows no option "${unknown.slice(0, 100)}": there are ${known.join(", ")}`);
  }
}
