import type { Path } from "../problem.ts";
import type { HiddenValues } from "./hidden-values.ts";
import { type Issue, issuePath } from "./issue-problems.ts";

const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;
const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, false: false };

/**
 * A copy of a value in which texts that came in through references are numbers or true and false, where those were
 * wanted; `undefined` when there is none such. `path` is the place of the value.
 */
export function withScalars(value: unknown, issues: readonly Issue[], path: Path, hidden: HiddenValues): unknown {
  let copy: unknown;
  for (const { issue, place } of everyIssue(issues)) {
    if (!hidden.cameIn([...path, ...place]) || typeof issue.input !== "string") continue;
    const scalar = scalarFor(issue, issue.input.trim());
    if (scalar === undefined) continue;
    copy ??= structuredClone(value);
    put(copy, place, scalar);
  }
  return copy;
}

/** With those of each form that a value may have: of a union's forms one was meant, and the value says which. */
function* everyIssue(issues: readonly Issue[], base: Path = []): Generator<{ issue: Issue; place: Path }> {
  for (const issue of issues) {
    const place = [...base, ...issuePath(issue)];
    yield { issue, place };
    if (issue.issues !== undefined) yield* everyIssue(issue.issues, place);
  }
}

function scalarFor({ type, expected }: Issue, text: string): number | boolean | undefined {
  const wanted = type === "picklist" || type === "literal" ? String(expected) : type;
  if (wanted === "boolean" || /\b(?:true|false)\b/.test(wanted)) return BOOLEANS[text];
  if (wanted !== "number" && !/(?:^|[( |])-?\d/.test(wanted)) return undefined;
  return NUMBER.test(text) ? Number(text) : undefined;
}

function put(copy: unknown, place: Path, scalar: number | boolean): void {
  let block = copy as Record<string | number, unknown>;
  for (const key of place.slice(0, -1)) block = block[key] as Record<string | number, unknown>;
  const last = place.at(-1);
  if (last !== undefined) block[last] = scalar;
}
