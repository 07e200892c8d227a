import { formatProblem, type Problem } from "@bridge/config";

/** A problem with its place in the file. */
export interface LocatedProblem extends Problem {
  /** The file as it was named to the loader. */
  readonly file: string;
  /** Both count from 1; absent when the file as a whole is meant. */
  readonly position?: Position | undefined;
}

export interface Position {
  readonly line: number;
  readonly column: number;
}

/** `bridge.yaml:12:5 routes[0].policy.backoff: …`, as editors and terminals make links of. */
export function formatLocatedProblem(problem: LocatedProblem): string {
  const { file, position } = problem;
  const place = position === undefined ? file : `${file}:${position.line}:${position.column}`;
  return `${place} ${formatProblem(problem)}`;
}

/** By their place in the file, those of the file as a whole first. */
export function inFileOrder(problems: readonly LocatedProblem[]): readonly LocatedProblem[] {
  return problems.toSorted(
    (a, b) =>
      (a.position?.line ?? 0) - (b.position?.line ?? 0) || (a.position?.column ?? 0) - (b.position?.column ?? 0),
  );
}
