import { knownAcrossCopies } from "@bridge/ports/internal";
import { quote } from "./quote.ts";

/** A place in the document, outermost key first; list elements by their index. */
export type Path = readonly (string | number)[];

/** One thing that is wrong with a configuration, or worth a warning. */
export interface Problem {
  readonly path: Path;
  /** What is wrong and what to do about it. Never holds the value of a secret. */
  readonly message: string;
}

/** A configuration that was refused, with every problem found. */
export class ConfigError extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "ConfigError" });
    knownAcrossCopies(this, "config-error");
  }

  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(
      `the configuration has ${problems.length === 1 ? "a problem" : `${problems.length} problems`}:\n${problems.map((problem) => `  ${formatProblem(problem)}`).join("\n")}`,
    );
    this.problems = problems;
  }
}

/** `routes[0].policy.backoff: …` */
export function formatProblem(problem: Problem): string {
  const path = formatPath(problem.path);
  return path === "" ? problem.message : `${path}: ${problem.message}`;
}

/** `routes[0].policy.backoff`; a key that is no plain word stands in quotes: `options["a b"]`. */
export function formatPath(path: Path): string {
  return path.map((key, index) => step(key, index === 0)).join("");
}

const PLAIN_KEY = /^[\w$-]{1,80}$/;

function step(key: string | number, first: boolean): string {
  if (typeof key === "number") return `[${key}]`;
  if (!PLAIN_KEY.test(key)) return `[${quote(key)}]`;
  return first ? key : `.${key}`;
}
