import { kindOf } from "@bridge/ports/internal";
import type * as v from "valibot";

/** So much of a value is shown. */
const SHOWN_LENGTH = 64;
/** The message says all that may be said: what such a schema refuses may be a secret, or a part of a message. */
const SILENT: ReadonlySet<string> = new Set(["custom", "raw_check"]);
/** The message says it already. */
const EMPTY: ReadonlySet<string> = new Set(["min_length", "non_empty"]);

/**
 * What was sent, for the end of a message about it; `""` when there is nothing to say, or nothing may be said. Of what has no schema, such as
 * an unknown field, nobody knows whether it may be shown.
 */
export function got({ type, kind, expected }: v.BaseIssue<unknown>, sent: unknown): string {
  if (sent === undefined || expected === "never" || SILENT.has(type) || EMPTY.has(type)) return "";
  const isLong = type === "max_length" && (typeof sent === "string" || Array.isArray(sent));
  if (isLong) return ` (got ${sent.length})`;
  if (typeof sent !== "object" || sent === null) return ` (got ${shortened(sent)})`;
  // What is checked beyond its kind is not shown as a whole.
  return kind === "schema" ? ` (got ${kindOf(sent)})` : "";
}

function shortened(sent: unknown): string {
  const isLong = typeof sent === "string" && sent.length > SHOWN_LENGTH;
  return JSON.stringify(isLong ? `${sent.slice(0, SHOWN_LENGTH)}…` : sent);
}
