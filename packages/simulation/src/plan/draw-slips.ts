import type { Dice } from "../dice.ts";
import type { Fault, Plan } from "./plan.ts";

/** Invalid requests of an operator. */
const SLIPS = [
  "redrives what is not there",
  "redrives one that is not there",
  "redrives what is quarantined",
  "redrives one that is quarantined",
  "asks for a job that is not there",
  "lists jobs",
  "starts another plan",
  "plans for another binding",
  "plans something else under the same key",
  "injects where no route is",
] as const;

/** Where sends are under a lease. */
const LONG_SEND = "lets a send last as long as its lease";

export type Slip = (typeof SLIPS)[number] | typeof LONG_SEND;

/** In some plans operators slip: their request is refused, and changes nothing. */
export function withSlips(dice: Dice, plan: Plan): Plan {
  return withLongSend(dice.fork("long send"), withDrawnSlips(dice, plan));
}

function withLongSend(dice: Dice, plan: Plan): Plan {
  const sendsLeased = plan.leases !== undefined && (plan.leases.of === "targets" || plan.outbox === undefined);
  if (!sendsLeased || !dice.chance(0.1)) return plan;
  const slip: Fault = { at: Math.floor(dice.next() * plan.calmAt), forMs: 0, kind: "slip", slip: LONG_SEND, nth: 1 };
  return { ...plan, faults: [...plan.faults, slip].toSorted((a, b) => a.at - b.at) };
}

function withDrawnSlips(dice: Dice, plan: Plan): Plan {
  if (!dice.chance(0.25)) return plan;
  const { instances = 1, calmAt } = plan;
  const slips = Array.from({ length: dice.scaled(1, 10) }, (): Fault => ({
    at: Math.floor(dice.next() * calmAt),
    forMs: 0,
    ...(instances > 1 && { instance: dice.whole(0, instances - 1) }),
    kind: "slip",
    slip: dice.pick(SLIPS),
    nth: dice.scaled(1, 20),
  }));
  return { ...plan, faults: [...plan.faults, ...slips].toSorted((a, b) => a.at - b.at) };
}
