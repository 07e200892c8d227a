import type { ConfigView, Problem } from "@bridge/config";
import * as v from "valibot";
import { LIMITS } from "./limits.ts";
import { queryInteger } from "./values.ts";

/** Which parts of a configuration are shown, of each kind. */
export const partsQuery = v.object({
  offset: v.optional(
    queryInteger("How many parts of each kind, such as routes, to leave out first.", 0, LIMITS.listOffsetMax),
    "0",
  ),
});

/** In an answer, beside a configuration. */
export const moreParts = v.pipe(
  v.optional(v.record(v.string(), v.number())),
  v.description(`By kind, such as routes: so many parts come after the ${LIMITS.configParts} that are shown.`),
);

/** A configuration, with as much of each list as is shown at once. */
export function shownParts(
  config: ConfigView,
  offset = 0,
): { readonly config: ConfigView; readonly more: Readonly<Record<string, number>> | undefined } {
  const end = offset + LIMITS.configParts;
  const more: Record<string, number> = {};
  const shown = Object.entries(config).map(([kind, parts]): [string, unknown] => {
    if (!Array.isArray(parts)) return [kind, parts];
    if (parts.length > end) more[kind] = parts.length - end;
    return [kind, parts.slice(offset, end)];
  });
  return { config: Object.fromEntries(shown), more: Object.keys(more).length > 0 ? more : undefined };
}

/** The first ones; of the rest it says how many there are. */
export function shownProblems(problems: readonly Problem[]): readonly Problem[] {
  const beyond = problems.length - LIMITS.configProblems;
  if (beyond <= 0) return problems;
  return [...problems.slice(0, LIMITS.configProblems), { path: [], message: `and ${beyond} more` }];
}

/** The first lines of a diff, and how many come after them. */
export function shownDiff(text: string): { readonly text: string; readonly more_lines?: number } {
  if (text.length <= LIMITS.configDiffLength) return { text };
  const end = text.lastIndexOf("\n", LIMITS.configDiffLength) + 1;
  const rest = text.slice(end);
  return { text: text.slice(0, end), more_lines: rest.split("\n").length - (rest.endsWith("\n") ? 1 : 0) };
}
