import type { BridgeDocument } from "@bridge/config";
import type { Dice } from "../dice.ts";
import type { Plan, PlannedMessage } from "./plan.ts";
import type { HookHabits, Stumble } from "./planned-program.ts";

/** In some plans the bridge is part of a program: it has hooks, processors that fail, and whoever records what happens. */
export function withProgram(dice: Dice, plan: Plan): Plan {
  const [hooks, stumbling, records] = [dice.chance(0.2), dice.chance(0.2), dice.chance(0.15)];
  return {
    ...plan,
    ...(hooks && { hooks: drawHooks(dice.fork("hooks")) }),
    ...(stumbling && withStumbles(dice.fork("stumbles"), plan)),
    ...(records && { recorded: true as const }),
  };
}

/** In some plans a processor lets sends wait while their target is down. */
export function withGate(dice: Dice, plan: Plan): Plan {
  // What is in an outbox no gate is asked for.
  if (plan.outbox !== undefined || !dice.chance(0.2)) return plan;
  return { ...plan, gated: true, document: withProcessor(plan.document) };
}

function drawHooks(dice: Dice): HookHabits {
  const share = (most: number): number => (dice.chance(0.5) ? dice.next() * most : 0);
  return {
    latencyMs: dice.scaled(1, 3_000),
    throws: share(0.3),
    rejects: share(0.3),
    hangs: share(0.1),
    stays: share(0.1),
  };
}

function withStumbles(dice: Dice, { messages, document }: Plan): Pick<Plan, "messages" | "document"> {
  const share = dice.next() * 0.3;
  return {
    messages: messages.map((message) =>
      message.inject === undefined && dice.chance(share) ? { ...message, stumbles: drawStumble(dice) } : message,
    ),
    document: withProcessor(document),
  };
}

function drawStumble(dice: Dice): NonNullable<PlannedMessage["stumbles"]> {
  const how = dice.pick<Stumble["how"]>([
    "throws",
    "refuses",
    "answers nothing",
    "ends when it is told to",
    "ends late",
  ]);
  return { how, times: dice.scaled(1, 20) };
}

function withProcessor({ routes = [], ...document }: BridgeDocument): BridgeDocument {
  return {
    ...document,
    processors: [{ id: "filter", type: "simulated" }],
    routes: routes.map((route) => ({ ...route, processors: ["filter"] })),
  };
}
