import type { TapOptions } from "@bridge/core";
import type { Dice } from "../dice.ts";
import type { Fault, Plan } from "./plan.ts";
import type { Look, PlannedTap } from "./planned-look.ts";

/** In some plans there are onlookers, who change nothing: everything else of such a plan stays as it is without them. */
export function withLooks(dice: Dice, plan: Plan): Plan {
  if (!dice.chance(0.35)) return plan;
  const { instances = 1, calmAt } = plan;
  const looks = Array.from({ length: dice.scaled(1, 5) }, (): Fault => {
    const at = Math.floor(dice.next() * 0.9 * calmAt);
    const forMs = Math.min(calmAt - at, dice.chance(0.5) ? dice.scaled(100, 300_000) : dice.whole(10_000, 300_000));
    const look = dice.chance(0.6) ? drawTap(dice) : drawWhere(dice);
    return { at, forMs, ...(instances > 1 && { instance: dice.whole(0, instances - 1) }), ...look };
  });
  return { ...plan, faults: [...plan.faults, ...looks].toSorted((a, b) => a.at - b.at) };
}

function drawTap(dice: Dice): Look {
  const unread = dice.chance(0.25);
  const options: TapOptions = {
    ...(dice.chance(0.2) && { sample: dice.scaled(1, 10) }),
    rate: unread ? 1_000 : dice.scaled(1, 1_000),
    // Some that end by themselves, at a moment that no clock has rounded.
    durationMs: dice.chance(0.6) ? 100 + dice.next() * 20_000 : 600_000,
    payload: dice.pick(["none", "preview", "full"]),
    ...(dice.chance(0.2) && { outcome: dice.pick(["delivered", "persisted", "dead_lettered", "dropped"]) }),
    ...(dice.chance(0.1) && { subjectPrefix: dice.pick(["simul", "other"]) }),
  };
  const tap: PlannedTap = unread ? { options } : { options, readsMs: dice.scaled(1, 20_000) };
  return { kind: "tap", tap };
}

function drawWhere(dice: Dice): Look {
  return { kind: "where", everyMs: dice.scaled(200, 10_000), messages: dice.scaled(1, 20) };
}
