import type { Plan } from "../plan/plan.ts";
import { runPlan } from "../run/run-seed.ts";

/** Whether a plan breaks something that these violations tell of too, whichever messages and numbers are named. */
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
