import type { Dice } from "../dice.ts";
import { drawChange } from "./draw-changes.ts";
import { drawJob, drawJobAsk } from "./draw-jobs.ts";
import type { Edge, Fault } from "./plan.ts";

const ANSWERS = ["refuses", "silent", "loses"] as const;

/** As often longer than most bounds of the engine as shorter. */
function lasting(dice: Dice): number {
  return dice.chance(0.6) ? dice.scaled(10, 60_000) : dice.whole(5_000, dice.chance(0.2) ? 200_000 : 60_000);
}

export interface Choice {
  readonly kind: Fault["kind"];
  readonly edges: readonly [Edge, ...Edge[]];
  readonly machines: boolean;
  readonly outbox: boolean;
}

/** One of a kind, at any time. */
export function drawFault(dice: Dice, spanMs: number, { kind, edges, machines, outbox }: Choice): Fault {
  const span = { at: Math.floor(dice.next() * spanMs), forMs: lasting(dice) };
  switch (kind) {
    case "cut":
      return { ...span, kind, forMs: 0, noticedAfterMs: dice.scaled(1, 30_000) };
    case "redrive":
      return { ...span, kind, forMs: 0, entries: dice.scaled(1, 100), callers: dice.scaled(1, 3) };
    case "discard":
      return { ...span, kind, forMs: 0, entries: dice.scaled(1, 100) };
    case "move":
      return { ...span, kind, forMs: 0, records: dice.scaled(1, 30), callers: dice.scaled(1, 3) };
    case "target-cut":
      return { ...span, kind, forMs: 0, noticedAfterMs: dice.scaled(1, 30_000) };
    case "target-down":
    case "dlq-down":
      return { ...span, kind, answers: dice.pick(ANSWERS) };
    case "outbox-down":
      return { ...span, kind, answers: dice.pick([...ANSWERS, "torn", "full"]) };
    case "leases-down":
      return { ...span, kind, answers: dice.pick([...ANSWERS, "slow", "slow", "slow"]) };
    case "freeze":
      // Longer than most leases last.
      return { ...span, kind, forMs: dice.whole(1_000, 60_000), machine: machines && dice.chance(0.5) };
    case "link":
      return { ...span, kind, edge: dice.pick(edges), ways: dice.pick([[">"], ["<"], [">", "<"]]) };
    case "outbox-crash":
      return { ...span, kind, forMs: 0 };
    case "jump":
      return { ...span, kind, forMs: 0, ms: dice.whole(-3_600_000, 3_600_000) };
    case "job":
      return { ...span, kind, forMs: 0, job: drawJob(dice), callers: dice.scaled(1, 2) };
    case "job-call":
      return { ...span, kind, forMs: 0, ask: drawJobAsk(dice), callers: dice.scaled(1, 2) };
    case "reload":
      return { ...span, kind, change: drawChange(dice, outbox) };
    case "kill":
    case "broker-down":
    case "stop":
    case "pause":
      return { ...span, kind };
    case "hurry":
    case "commit":
    case "by-hand":
    case "document-down":
    case "document-away":
    case "restart":
    case "second-process":
      throw new Error(`${kind} is drawn where there is a file`);
    case "tap":
    case "where":
    case "redrive-one":
    case "delete-one":
    case "quarantine":
    case "spoil-one":
    case "slip":
      throw new Error(`${kind} is drawn for those who look on`);
  }
}
