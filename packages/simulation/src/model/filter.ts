import type { Processor } from "@bridge/ports";
import type { Plan } from "../plan/plan.ts";
import type { Auditor } from "../run/auditor.ts";
import { numberIn } from "./broker-session.ts";

/** Filters out what the plan says. */
export function filter({ plan, auditor }: { readonly plan: Plan; readonly auditor: Auditor }): Processor {
  return {
    process(envelope) {
      const number = numberIn(envelope.payload);
      if (plan.messages[number]?.filtered !== true) return { kind: "pass", envelope };
      auditor.source.filtered(number);
      return { kind: "filter", reason: "the plan says so" };
    },
  };
}
