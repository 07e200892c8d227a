import type { Dice } from "../dice.ts";
import { type Fault, lastEnd, type Plan } from "./plan.ts";

/** In some plans with jobs an operator quarantines dead letters for a time, so that redrives skip them. */
export function withQuarantines(dice: Dice, plan: Plan): Plan {
  const { dlq, instances = 1, calmAt } = plan;
  if (dlq.parts !== true || !dice.chance(0.4)) return plan;
  const quarantines = Array.from({ length: dice.scaled(1, 3) }, (): Fault => ({
    kind: "quarantine",
    at: Math.floor((0.1 + 0.7 * dice.next()) * calmAt),
    forMs: dice.scaled(1_000, 200_000),
    oneIn: dice.whole(1, 5),
    ...(instances > 1 && { instance: dice.whole(0, instances - 1) }),
  }));
  const faults = [...plan.faults, ...quarantines].toSorted((a, b) => a.at - b.at);
  return { ...plan, faults, calmAt: Math.max(calmAt, lastEnd(faults)) };
}
