import type { Dice } from "../dice.ts";
import { type Fault, lastEnd, type Moment, type Plan } from "./plan.ts";

/** What may begin at any time may begin while the answer to something is on its way. */
const SUDDEN: ReadonlySet<Fault["kind"]> = new Set([
  "kill",
  "cut",
  "target-cut",
  "broker-down",
  "target-down",
  "dlq-down",
  "outbox-down",
  "outbox-crash",
  "leases-down",
  "freeze",
  "link",
]);

/** In some plans faults begin with a confirmation: what was asked for is done, and whoever has asked does not know it yet. */
export function withMoments(dice: Dice, plan: Plan): Plan {
  if (!dice.chance(0.4)) return plan;
  const moments = [
    "settled",
    "accepted",
    "kept",
    ...(plan.outbox === undefined ? [] : (["persisted", "ended", "ended"] as const)),
  ] as const;
  const faults = plan.faults.map((fault): Fault => {
    if (!SUDDEN.has(fault.kind) || !dice.chance(0.3)) return fault;
    return { ...fault, upon: { moment: dice.pick<Moment>(moments), afterMs: drawAfter(dice) } };
  });
  const all = [...faults, ...plan.faults.flatMap((fault) => amidItsEnd(dice, fault))];
  return { ...plan, faults: all.toSorted((a, b) => a.at - b.at), calmAt: Math.max(plan.calmAt, lastEnd(all)) };
}

/** A trial whose end the store of the document does not answer to, and whose process may die before it hears of that. */
function amidItsEnd(dice: Dice, fault: Fault): readonly Fault[] {
  if (fault.kind !== "commit" || fault.commit.trial === undefined || !dice.chance(0.3)) return [];
  const { instance } = fault;
  const at = fault.at + Math.floor(fault.commit.trial.afterMs / 2);
  const of = { at, ...(instance !== undefined && { instance }) };
  const answers = dice.pick(["refuses", "silent", "loses"] as const);
  const upon = { moment: "tried", afterMs: 0 } as const;
  const down: Fault = { ...of, kind: "document-down", forMs: dice.scaled(1_000, 60_000), answers, upon };
  const kill: Fault = {
    ...of,
    kind: "kill",
    forMs: dice.scaled(100, 20_000),
    upon: { ...upon, afterMs: dice.scaled(1, 20_000) },
  };
  return dice.chance(0.7) ? [down, kill] : [kill];
}

function drawAfter(dice: Dice): number {
  return dice.chance(0.6) ? 0 : dice.scaled(1, 2_000);
}
