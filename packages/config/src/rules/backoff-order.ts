import type { Rule } from "./rule-context.ts";

/** The longest wait is no shorter than the first. */
export const backoffOrder: Rule = (context) => {
  for (const { part, path } of context.parts("routes")) {
    const { initial_interval: initial, max_interval: max } = part.policy?.backoff ?? {};
    if (initial === undefined || max === undefined || max >= initial) continue;
    const place = [...path, "policy", "backoff"];
    const shown = context.hidden.show([...place, "initial_interval"], initial);
    context.report.problem(
      [...place, "max_interval"],
      `is shorter than initial_interval (${shown} ms): raise it or lower the other`,
    );
  }
};
