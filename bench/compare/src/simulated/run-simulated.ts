import { runPlan } from "@bridge/simulation";
import { legOf, type Outcome } from "../outcome.ts";
import { bindingOf, type Scenario } from "../scenario.ts";
import { planOf } from "./plan-of.ts";

/** Runs a scenario between the models, in virtual time. */
export async function runSimulated(scenario: Scenario, seed: number): Promise<Outcome> {
  const { places, violations } = await runPlan(planOf(scenario, seed));
  const { delivered, dead, waiting } = places;
  const ended = new Map(
    scenario.messages.flatMap(({ number }) =>
      scenario.targets.map((_, index) => {
        const binding = bindingOf(index);
        const here = (each: { readonly number: number; readonly bindingId: string }): boolean =>
          each.number === number && each.bindingId === binding;
        const arrivals = delivered.find(here)?.times ?? 0;
        const letters = dead.filter(here).map(({ category, errorCode }) => `dlq ${category} ${errorCode}`);
        const all = [...(arrivals > 0 ? ["delivered"] : []), ...letters, ...(waiting.some(here) ? ["outbox"] : [])];
        return [legOf(number, binding), { places: all, arrivals }] as const;
      }),
    ),
  );
  return { ended, atSource: places.atSource, faults: violations };
}
