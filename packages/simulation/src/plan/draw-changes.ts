import type { Dice } from "../dice.ts";
import type { Change } from "./change.ts";
import type { Plan } from "./plan.ts";

type Other = "bindings-renamed" | "readdressed" | "session" | "dlq-moved" | "outbox-moved";

interface Parts {
  readonly outbox: boolean;
  readonly jobs: boolean;
}

/** Some changes of the configuration concern bindings, sessions and stores. */
export function withOtherChanges(dice: Dice, plan: Plan, parts: Parts): Plan {
  const faults = plan.faults.map((fault) =>
    fault.kind === "reload" && dice.chance(0.4) ? { ...fault, change: drawOtherChange(dice, parts) } : fault,
  );
  return { ...plan, faults };
}

export function drawOtherChange(dice: Dice, { outbox, jobs }: Parts): Change {
  const what = dice.pick<Other>([
    "bindings-renamed",
    "readdressed",
    "session",
    "session",
    // A job lives in its store, and stays there.
    ...(jobs ? [] : (["dlq-moved", "dlq-moved"] as const)),
    ...(outbox ? (["outbox-moved", "outbox-moved"] as const) : []),
  ]);
  switch (what) {
    case "session":
      return { what, known: dice.chance(0.6) };
    case "dlq-moved":
    case "outbox-moved":
    case "readdressed":
    case "bindings-renamed":
      return { what };
  }
}
