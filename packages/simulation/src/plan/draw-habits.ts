import type { Dice } from "../dice.ts";
import type { BrokerHabits, CallerHabits, OutboxHabits, Plan } from "./plan.ts";

export function drawPolicies(dice: Dice): Pick<Plan, "dropsExpired" | "keepsFiltered" | "rate"> {
  return {
    ...(dice.chance(0.3) && { dropsExpired: true }),
    ...(dice.chance(0.5) && { keepsFiltered: true }),
    ...(dice.chance(0.15) && { rate: dice.scaled(2, 200) }),
  };
}

/** A broker that lends counts deliveries. One that resumes sessions hears only that a message is done, and has one client. */
export function drawBroker(dice: Dice, { instances, exclusive }: Many): BrokerHabits {
  const habits = {
    latencyMs: dice.scaled(1, 300),
    confirms: dice.chance(0.5),
    releasable: dice.chance(0.5),
    counts: dice.chance(0.5),
  };
  const own = dice.fork("loans");
  if (!own.chance(0.7)) return { ...habits, counts: true, loanMs: own.scaled(3_000, 60_000) };
  if ((instances > 1 && !exclusive) || !own.chance(0.4)) return habits;
  return { ...habits, confirms: false, releasable: false, counts: false, resumes: true };
}

export function drawCallers(dice: Dice): CallerHabits | undefined {
  if (!dice.chance(0.15)) return undefined;
  return {
    latencyMs: dice.scaled(1, 300),
    patienceMs: dice.scaled(3_000, 60_000),
    responseTimeoutMs: dice.scaled(3_000, 60_000),
    keyed: dice.chance(0.6),
    ...(dice.chance(0.4) && { repeats: dice.whole(0, 5) }),
  };
}

export function drawOutbox(dice: Dice): OutboxHabits | undefined {
  if (dice.chance(0.5)) return undefined;
  return {
    latencyMs: dice.scaled(1, 100),
    shared: dice.chance(0.5),
    maxRecords: dice.chance(0.2) ? dice.scaled(3, 1_000) : 100_000,
  };
}

/** Of the instances. */
export interface Many {
  readonly instances: number;
  /** Whether one at a time has the session of the source. */
  readonly exclusive: boolean;
}

export function drawMany(dice: Dice, alone: number): Many {
  return { instances: dice.chance(alone) ? 1 : dice.whole(2, 3), exclusive: dice.chance(0.3) };
}
