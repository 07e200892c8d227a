import type { Dice } from "../dice.ts";
import type { Change } from "./change.ts";
import { type Fault, lastEnd, type Plan } from "./plan.ts";
import type { DocumentHabits, PlannedCommit } from "./planned-commit.ts";

const ANSWERS = ["refuses", "silent", "loses"] as const;
/** As the interface allows it, and short enough for what a dead instance has left to count as left behind before the end. */
type Next = NonNullable<PlannedCommit["trial"]>["next"];

const LEAST_TRIAL_MS = 10_000;
const MOST_TRIAL_MS = 240_000;

/** In some plans instances follow a document, which operators change with commits in place of each instance's own. */
export function withDocuments(dice: Dice, plan: Plan, drawChange: (dice: Dice) => Change): Plan {
  if (!dice.chance(0.15)) return plan;
  const { instances = 1 } = plan;
  const documents: DocumentHabits = { latencyMs: dice.scaled(1, 300), shared: instances > 1 || dice.chance(0.4) };
  const spanMs = Math.max(1, ...plan.messages.map(({ at }) => at));
  const some = (): { readonly at: number; readonly instance: number } => ({
    at: Math.floor(dice.next() * spanMs),
    instance: dice.whole(0, instances - 1),
  });
  const kept = plan.faults.flatMap((fault): readonly Fault[] => {
    // A time of day that jumps moves the end of what is tried out, as whoever sets it wants it.
    if (fault.kind === "jump") return [];
    if (fault.kind !== "reload") return [fault];
    return [{ ...fault, kind: "commit", commit: drawCommit(dice, fault.change) }];
  });
  const more = Array.from({ length: dice.scaled(1, 5) }, (): readonly Fault[] => {
    const { at, instance } = some();
    const commit: Fault = {
      kind: "commit",
      at,
      forMs: dice.scaled(1_000, 200_000),
      instance,
      commit: drawCommit(dice, drawChange(dice)),
    };
    const amid = Array.from({ length: dice.scaled(1, 4) - 1 }, () =>
      drawAmid(dice, { at: at + dice.scaled(10, 100_000), instance }, documents, drawChange),
    );
    return [commit, ...amid];
  }).flat();
  const faults = [...kept, ...more].toSorted((a, b) => a.at - b.at);
  return { ...plan, documents, faults, calmAt: Math.max(plan.calmAt, lastEnd(faults)) };
}

function drawCommit(dice: Dice, change: Change): PlannedCommit {
  if (dice.chance(0.25)) return { change };
  const withinMs = dice.chance(0.5) ? dice.whole(LEAST_TRIAL_MS, 60_000) : dice.whole(LEAST_TRIAL_MS, MOST_TRIAL_MS);
  const guard = dice.chance(0.3) && {
    guard: dice.chance(0.5)
      ? { level: "full", levelForMs: dice.scaled(1_000, 30_000) }
      : { failureRatio: dice.pick([0.05, 0.3, 0.9]), minSends: dice.scaled(1, 50) },
  };
  const next = dice.pick<Next>(["confirm", "confirm", "revert", "nothing"]);
  return { change, trial: { withinMs, ...guard, next, afterMs: Math.floor(dice.next() * withinMs * 1.1) } };
}

function drawAmid(
  dice: Dice,
  span: { readonly at: number; readonly instance: number },
  { shared }: DocumentHabits,
  drawChange: (dice: Dice) => Change,
): Fault {
  const forMs = dice.chance(0.5) ? dice.scaled(100, 60_000) : dice.whole(5_000, 120_000);
  const kind = dice.pick([
    "kill",
    "restart",
    "restart",
    "freeze",
    "document-down",
    "document-down",
    "link",
    ...(shared ? [] : (["document-away", "document-away"] as const)),
    "by-hand",
  ] as const);
  switch (kind) {
    case "kill":
    case "restart":
      return { ...span, forMs: dice.scaled(100, 60_000), kind };
    case "freeze":
      return { ...span, forMs: dice.whole(1_000, 60_000), kind, machine: false };
    case "document-down":
      return { ...span, forMs, kind, answers: dice.pick(ANSWERS) };
    case "link":
      return { ...span, forMs, kind, edge: "document", ways: dice.pick([[">"], ["<"], [">", "<"]]) };
    case "document-away":
      return { ...span, forMs, kind, how: dice.pick(["missing", "unreadable", "empty"]) };
    case "by-hand": {
      const older = dice.chance(0.4) && { older: dice.scaled(1, 3) };
      return { ...span, forMs: 0, kind, ...(older || { change: drawChange(dice) }) };
    }
  }
}
