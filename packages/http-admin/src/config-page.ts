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

/** In an answer, beside lists. */
export const moreOfLists = v.pipe(
  v.optional(v.record(v.string(), v.number())),
  v.description(`By list, such as routes.kept: so many come after the ${LIMITS.configParts} that are shown.`),
);

type Lists = Readonly<Record<string, readonly unknown[]>>;

interface Shown<Of> {
  readonly shown: Of;
  /** By name of a list: so many come after those that are shown. */
  readonly more: Readonly<Record<string, number>> | undefined;
}

/** As much of each list as is shown at once. */
export function shownLists<Of extends Lists>(lists: Of, offset = 0): Shown<Of> {
  const end = offset + LIMITS.configParts;
  const more = Object.entries(lists).flatMap(([name, list]) =>
    list.length > end ? [[name, list.length - end] as const] : [],
  );
  const shown = Object.entries(lists).map(([name, list]) => [name, list.slice(offset, end)]);
  return { shown: Object.fromEntries(shown) as Of, more: more.length > 0 ? Object.fromEntries(more) : undefined };
}

/** A configuration, with as much of each list as is shown at once. */
export function shownParts(config: ConfigView, offset = 0): Shown<ConfigView> {
  const lists = Object.entries(config).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]));
  const { shown, more } = shownLists(Object.fromEntries(lists), offset);
  return { shown: { ...config, ...shown }, more };
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
