import type { Plan } from "../plan/plan.ts";
import { runPlan } from "../run/run-seed.ts";

/** Whether a plan violates one of the same promises, regardless of messages and numbers. */
export function breaksLike(violations: readonly string[]): (plan: Plan) => Promise<boolean> {
  const kinds = new Set(violations.map(kindOf));
  return async (plan) => {
    const run = await runPlan(plan);
    return run.violations.some((words) => kinds.has(kindOf(words)));
  };
}

function kindOf(words: string): string {
  return words.replaceAll(/\d+/g, "#");
}
