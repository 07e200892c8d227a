import type { Dice } from "../dice.ts";
import { type Fault, lastEnd, type Plan } from "./plan.ts";

const REDRIVES: ReadonlySet<Fault["kind"]> = new Set(["redrive", "redrive-one", "job"]);

/**
 * In some plans dead letters that are delivered again are not deleted, or nobody hears so: their store does not answer
 * by then, or the process is gone. In others somebody deletes dead letters while they are delivered.
 */
export function withDeletions(dice: Dice, plan: Plan): Plan {
  const redrives = plan.faults.filter(({ kind }) => REDRIVES.has(kind));
  if (redrives.length === 0 || !dice.chance(0.4)) return plan;
  const { instances = 1 } = plan;
  const amid = redrives.flatMap(({ kind, at }): readonly Fault[] => {
    if (!dice.chance(0.5)) return [];
    const of = { at, ...(instances > 1 && { instance: dice.whole(0, instances - 1) }) };
    return [drawAmid(dice, of), ...(kind === "job" && dice.chance(0.6) ? [drawHalt(dice, of)] : [])];
  });
  const faults = [...plan.faults, ...amid].toSorted((a, b) => a.at - b.at);
  return { ...plan, faults, calmAt: Math.max(plan.calmAt, lastEnd(faults)) };
}

/** Somebody has the job stand still then. */
function drawHalt(dice: Dice, of: Pick<Fault, "at" | "instance">): Fault {
  const upon = { moment: "redriven", afterMs: dice.scaled(10, 10_000) } as const;
  const call = { kind: dice.pick<"pause" | "cancel">(["pause", "pause", "cancel"]) } as const;
  return { ...of, kind: "job-call", forMs: 0, upon, ask: { nth: 0, call }, callers: 1 };
}

function drawAmid(dice: Dice, of: Pick<Fault, "at" | "instance">): Fault {
  const upon = { moment: "redriven", afterMs: dice.chance(0.5) ? 0 : dice.scaled(1, 2_000) } as const;
  const forMs = dice.scaled(1_000, 60_000);
  const kind = dice.pick(["dlq-down", "dlq-down", "dlq-down", "link", "kill", "discard"] as const);
  switch (kind) {
    case "dlq-down":
      return { ...of, kind, forMs, upon, answers: dice.pick(["refuses", "silent", "loses", "busy"]) };
    case "link":
      return { ...of, kind, forMs, upon, edge: "dlq", ways: ["<"] };
    case "kill":
      return { ...of, kind, forMs: dice.scaled(100, 20_000), upon };
    case "discard":
      return { ...of, kind, forMs: 0, upon: { ...upon, moment: "accepted" }, entries: dice.scaled(1, 100) };
  }
}
