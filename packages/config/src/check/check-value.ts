import * as v from "valibot";
import type { Path, Problem } from "../problem.ts";
import type { HiddenValues } from "./hidden-values.ts";
import { type Issue, issuePath, issueProblems } from "./issue-problems.ts";
import { withScalars } from "./scalars.ts";
import { strayKeys } from "./stray-keys.ts";

export interface Checked {
  /** The schema's output; where something is wrong, what valibot made of it. */
  readonly output: unknown;
  /** The places with something wrong, relative to the value. */
  readonly unsound: readonly Path[];
  readonly problems: readonly Problem[];
}

/** Holds `value`, which stands at `path` of the document, against a schema, and tells everything that is wrong. */
export function checkValue(schema: v.GenericSchema, value: unknown, path: Path, hidden: HiddenValues): Checked {
  const stray = [...strayKeys(schema, value, path)];
  const told = new Set(stray.map((problem) => JSON.stringify(problem.path)));
  // An empty message marks an issue that has none of its own, to be described here and not by valibot, which quotes
  // values.
  const parse = (given: unknown) => v.safeParse(schema, given, { message: "", abortPipeEarly: true });
  const first = parse(value);
  const scalars = first.success ? undefined : withScalars(value, first.issues, path, hidden);
  const { output, issues = [] } = scalars === undefined ? first : parse(scalars);
  const found = (issues as readonly Issue[]).flatMap((issue) => issueProblems(issue, path, hidden));
  return {
    output,
    unsound: [
      ...stray.map((problem) => problem.path.slice(path.length)),
      ...(issues as readonly Issue[]).map(issuePath),
    ],
    problems: [...stray, ...found.filter((problem) => !told.has(JSON.stringify(problem.path)))],
  };
}
