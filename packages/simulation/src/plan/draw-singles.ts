import type { Dice } from "../dice.ts";
import type { Fault, Plan } from "./plan.ts";

/** In some plans operators look after dead letters one by one. */
export function withSingles(dice: Dice, plan: Plan): Plan {
  // Only a store that marks entries lets them be redriven one by one.
  if (!dice.chance(plan.dlq.parts === true ? 0.5 : 0.1)) return plan;
  const { instances = 1, calmAt } = plan;
  const singles = Array.from({ length: dice.scaled(1, 10) }, (): Fault => {
    const span = {
      at: Math.floor((0.1 + 0.8 * dice.next()) * calmAt),
      forMs: 0,
      ...(instances > 1 && { instance: dice.whole(0, instances - 1) }),
    };
    if (dice.chance(0.25)) return { ...span, kind: "delete-one", nth: dice.scaled(1, 20) };
    return {
      ...span,
      kind: "redrive-one",
      nth: dice.scaled(1, 20),
      callers: dice.scaled(1, 3),
      patienceMs: dice.scaled(100, 60_000),
      ...(dice.chance(0.4) && { edit: dice.pick(["same", "anew", "throws"]) }),
    };
  });
  const all = [
    ...plan.faults,
    ...singles,
    ...afterRedrives(dice.fork("altered"), plan),
    ...spoilings(dice.fork("spoiled"), plan),
  ];
  return { ...plan, faults: all.toSorted((a, b) => a.at - b.at) };
}

/** Of some stores a disk is bad. */
function spoilings(dice: Dice, { calmAt }: Plan): readonly Fault[] {
  if (!dice.chance(0.3)) return [];
  return Array.from({ length: dice.scaled(1, 5) }, () => ({
    kind: "spoil-one",
    at: Math.floor((0.1 + 0.8 * dice.next()) * calmAt),
    forMs: 0,
    nth: dice.scaled(1, 20),
  }));
}

/** Somebody edits a dead letter that another operator has just asked to be redriven, and has it redriven as well. */
function afterRedrives(dice: Dice, { faults, outbox, instances = 1 }: Plan): readonly Fault[] {
  if (outbox === undefined) return [];
  return faults.flatMap((fault): readonly Fault[] => {
    if (fault.kind !== "redrive" || !dice.chance(0.3)) return [];
    const at = fault.at + dice.scaled(10, 40_000);
    const patienceMs = dice.scaled(1_000, 60_000);
    return [{ kind: "redrive-one", at, forMs: 0, nth: 1, callers: instances, patienceMs, edit: "altered" }];
  });
}
