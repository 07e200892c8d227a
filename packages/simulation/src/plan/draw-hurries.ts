import type { Dice } from "../dice.ts";
import { type Fault, lastEnd, type Plan } from "./plan.ts";

/** In some plans with changes of the configuration somebody waits for nothing, neither answers nor stops, and asks again. */
export function withHurries(dice: Dice, plan: Plan): Plan {
  const hasChanges = plan.faults.some(({ kind }) => kind === "reload");
  if (!hasChanges || plan.documents !== undefined || !dice.chance(0.6)) return plan;
  const hurries = plan.faults.flatMap(({ kind, at, forMs, instance }): readonly Fault[] => {
    if ((kind !== "reload" && kind !== "stop") || !dice.chance(0.6)) return [];
    const from = kind === "reload" && dice.chance(0.3) ? at + forMs : at;
    const hurry: Fault = {
      kind: "hurry",
      at: from + dice.scaled(1, 10_000),
      forMs: 0,
      asks: dice.scaled(1, 5),
      everyMs: dice.scaled(1, 5_000),
      patienceMs: dice.scaled(10, 30_000),
      ...(instance !== undefined && { instance }),
    };
    return [hurry];
  });
  const faults = [...plan.faults, ...hurries].toSorted((a, b) => a.at - b.at);
  return { ...plan, faults, calmAt: Math.max(plan.calmAt, lastEnd(faults)) };
}
