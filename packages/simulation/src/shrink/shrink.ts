import type { Plan } from "../plan/plan.ts";
import { fewer } from "./fewer.ts";
import { simpler, withFaults, withMessages } from "./simpler.ts";

export interface ShrinkOptions {
  /** Whether a plan still shows the violation. */
  readonly breaks: (plan: Plan) => Promise<boolean>;
  /** The most plans to try. Default: 500. */
  readonly tries?: number;
  /** Asked before each try: `false` ends the search with the best so far. */
  readonly goesOn?: () => boolean;
}

/** Makes a failing plan as simple as possible: fewer faults, fewer messages, one binding, well-behaved edges. */
export async function shrink(plan: Plan, { breaks, tries = 500, goesOn = () => true }: ShrinkOptions): Promise<Plan> {
  let best = plan;
  let left = tries;
  const better = async (candidate: Plan): Promise<boolean> => {
    if (left-- <= 0 || !goesOn() || !(await breaks(candidate))) return false;
    best = candidate;
    return true;
  };
  for (let before: Plan | undefined; before !== best;) {
    before = best;
    await fewer(best.faults, (faults) => better(withFaults(best, faults)));
    await fewer(best.messages, (messages) => better(withMessages(best, messages)));
    // What was found simpler is the one that the next thing is changed in.
    for (let step: Plan | undefined; step !== best;) {
      step = best;
      for (const candidate of simpler(step)) if (await better(candidate)) break;
    }
  }
  return best;
}
