import { kindOf, printable } from "@bridge/ports/internal";
import type * as v from "valibot";
import { isShowable } from "./showable.ts";

/** So many characters of a value, or a name, are shown. */
const SHOWN_LENGTH = 64;
/** The message says it already. */
const EMPTY: ReadonlySet<string> = new Set(["min_length", "non_empty"]);

/**
 * What was sent, for the end of a message about it; `""` when there is nothing to say, or nothing may be said. How long it is and of what
 * kind is no secret; `schema` is that of its place.
 */
export function got(issue: v.BaseIssue<unknown>, schema: v.GenericSchema | undefined, sent: unknown): string {
  const what = whatOf(issue, schema, sent);
  return what === undefined ? "" : ` (got ${what})`;
}

function whatOf(
  { type, kind, expected }: v.BaseIssue<unknown>,
  schema: v.GenericSchema | undefined,
  sent: unknown,
): string | undefined {
  if (sent === undefined || expected === "never" || EMPTY.has(type)) return undefined;
  if (type === "max_length" && (typeof sent === "string" || Array.isArray(sent))) return `${sent.length}`;
  const isValue = typeof sent !== "object" || sent === null;
  if (isValue && isShowable(schema)) return shown(sent);
  // A check, and a schema of our own, look at more than the kind.
  return kind === "schema" && type !== "custom" ? kindOf(sent) : undefined;
}

/** In one line that moves no cursor, and of no more than some length. */
export function shown(value: unknown): string {
  return typeof value === "string" ? printable(JSON.stringify(beginningOf(value))) : String(value);
}

/** As much of a text as is shown, in whole characters. */
export function beginningOf(text: string): string {
  if (text.length <= SHOWN_LENGTH) return text;
  const characters = Array.from(text.slice(0, 2 * SHOWN_LENGTH + 1));
  return characters.length > SHOWN_LENGTH ? `${characters.slice(0, SHOWN_LENGTH).join("")}…` : text;
}
