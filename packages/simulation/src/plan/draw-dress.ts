import type { Dice } from "../dice.ts";
import { lookedAt, type LooksAt } from "./looks-at.ts";
import type { Dress, Plan, PlannedMessage } from "./plan.ts";

const ODD: readonly [Dress, ...Dress[]] = [
  "unnamed",
  "forged",
  "doubled",
  "half",
  "lost half",
  "long",
  "crowded",
  "heavy",
  "number",
  "list",
  "never",
];

/** In some plans messages have headers, which addresses and resolvers look at, and some have what is hardly a part of a message. */
export function withDress(dice: Dice, plan: Plan): Plan {
  if (!dice.chance(0.35)) return plan;
  const looksAt: LooksAt | undefined = dice.chance(0.7) ? dice.pick(["address", "header_map", "rules"]) : undefined;
  const share = (most: number): number => (dice.chance(0.4) ? dice.next() * most : 0);
  const [bare, odd] = [share(0.3), share(0.2)];
  const names = dice.fork("names");
  /** Of what is too long or torn: in some of them that are their names. */
  const named = (dress: Dress): Dress => {
    if ((dress !== "long" && dress !== "half") || !names.chance(0.5)) return dress;
    return `${dress} names`;
  };
  const dressed = (message: PlannedMessage): PlannedMessage => {
    if (message.inject !== undefined) return message;
    return { ...message, dress: dice.chance(bare) ? "bare" : dice.chance(odd) ? named(dice.pick(ODD)) : "headed" };
  };
  return {
    ...plan,
    messages: plan.messages.map(dressed),
    ...(looksAt !== undefined && { looksAt, document: lookedAt(plan.document, looksAt) }),
  };
}
