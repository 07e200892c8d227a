/** A part of a message that shows something of a request. */
export interface Sent {
  readonly sent: string;
}

/** A message in its parts: whoever sent the request is told all of them, a record and a log only those that show nothing of it. */
export type Said = string | readonly (string | Sent)[];

/** For whoever sent the request. */
export function toldText(said: Said): string {
  return typeof said === "string" ? said : said.map((part) => (typeof part === "string" ? part : part.sent)).join("");
}

/** For everybody else. */
export function recordedText(said: Said): string {
  return typeof said === "string" ? said : said.filter((part) => typeof part === "string").join("");
}

/** These, one behind the other, with `between` from each to the next. */
export function joined(parts: readonly Said[], between = ""): Said {
  return parts.flatMap((part, place) => (place === 0 ? [part] : [between, part])).flat();
}
