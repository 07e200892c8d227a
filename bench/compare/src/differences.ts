import { type Outcome, placesOf } from "./outcome.ts";
import type { Scenario } from "./scenario.ts";

/**
 * What differs between the models and the real parts, and what neither may do. Where each message ended has to be the same;
 * how often it came, only within the bound.
 */
export function differences(scenario: Scenario, models: Outcome, real: Outcome): readonly string[] {
  const bound = 1 + scenario.troubles.length;
  const found: string[] = [];
  for (const [who, { faults, atSource }] of [["models", models] as const, ["real parts", real] as const]) {
    found.push(...faults.map((fault) => `${who}: ${fault}`));
    if (atSource.length > 0) found.push(`${who}: the source still has ${atSource.join(", ")}`);
  }
  for (const [leg, there] of models.ended) {
    const here = real.ended.get(leg) ?? { places: [], arrivals: 0 };
    const [expected, actual] = [placesOf(there), placesOf(here)];
    if (expected !== actual) found.push(`${leg}: ${expected} in the models, ${actual} with the real parts`);
    for (const [who, { arrivals }] of [["models", there] as const, ["real parts", here] as const])
      if (arrivals > bound) found.push(`${leg}: came ${arrivals} times with the ${who}, where ${bound} have a cause`);
  }
  return found;
}
