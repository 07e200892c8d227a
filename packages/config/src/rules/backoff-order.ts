import type { Rule } from "./rule-context.ts";

/** The longest wait is no shorter than the first. */
export const backoffOrder: Rule = (context) => {
  for (const { part, path } of context.parts("routes")) {
    const { initial_interval: initial, max_interval: max } = part.policy?.backoff ?? {};
    if (initial === undefined || max === undefined || max >= initial) continue;
    context.report.problem(
      [...path, "policy", "backoff", "max_interval"],
      "is shorter than initial_interval: raise it or lower the other",
    );
  }
};
