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

/** Of numbers of the route, or of where its messages go through. */
export function drawChange(dice: Dice, outbox: boolean): Change {
  const what = dice.pick<"policy" | "rate" | "renamed" | "removed" | "mode">([
    "policy",
    "rate",
    "renamed",
    "removed",
    ...(outbox ? (["mode", "mode"] as const) : []),
  ]);
  switch (what) {
    case "policy":
      return { what, policy: { max_in_flight: dice.scaled(1, 100), backoff: { jitter: dice.next() } } };
    case "rate":
      return { what, perSecond: dice.scaled(1, 1_000) };
    case "renamed":
    case "removed":
    case "mode":
      return { what };
  }
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
