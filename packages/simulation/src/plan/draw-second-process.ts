import type { Dice } from "../dice.ts";
import { changesOf, type Fault, lastEnd, type Plan } from "./plan.ts";

/**
 * In some plans with a file a second process is started on it, by mistake, or because the first one seems to hang: it ends, where that
 * is the outbox, or runs as well, where it is only the document.
 */
export function withSecondProcess(dice: Dice, plan: Plan): Plan {
  const { outbox, documents, broker, instances = 1, calmAt } = plan;
  const hasFile = outbox === undefined ? documents?.shared === false : !outbox.shared;
  // One client has a session that is resumed.
  const isOnFile = hasFile && instances === 1 && broker.resumes !== true;
  // Whoever starts first with a document that moves the outbox has the other file, and the change is refused to the other process.
  if (!isOnFile || changesOf(plan).some(({ what }) => what === "outbox-moved") || !dice.chance(0.4)) return plan;
  const seconds = Array.from({ length: dice.scaled(1, 3) }, (): readonly Fault[] => {
    const at = Math.floor(dice.next() * calmAt);
    const second: Fault = { kind: "second-process", at, forMs: dice.scaled(1_000, 90_000) };
    return [second, ...amid(dice, at)];
  }).flat();
  const faults = [...plan.faults, ...seconds].toSorted((a, b) => a.at - b.at);
  return { ...plan, faults, calmAt: Math.max(calmAt, lastEnd(faults)) };
}

/** What becomes of the first process then. */
function amid(dice: Dice, from: number): readonly Fault[] {
  const span = { at: from + dice.scaled(1, 20_000), forMs: dice.scaled(100, 60_000) };
  switch (dice.pick(["kill", "kill", "freeze", "stop", "nothing"] as const)) {
    case "kill":
      return [{ ...span, kind: "kill" }];
    case "freeze":
      return [{ ...span, kind: "freeze", machine: false }];
    case "stop":
      return [{ ...span, kind: "stop" }];
    case "nothing":
      return [];
  }
}
