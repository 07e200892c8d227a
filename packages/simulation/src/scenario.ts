import type { Plan } from "./plan/plan.ts";

/** A plan, kept in a file because it once showed something. */
export interface Scenario {
  /** What it was, in one sentence. */
  readonly what: string;
  readonly plan: Plan;
}

export function scenarioText({ what, plan }: Scenario): string {
  return `${JSON.stringify({ what, plan }, undefined, 2)}\n`;
}

/** @throws SyntaxError when the text is not JSON, TypeError when it is not a scenario */
export function parseScenario(text: string): Scenario {
  const { what, plan } = JSON.parse(text) as Partial<Scenario>;
  if (typeof what !== "string" || plan === undefined || !isPlan(plan))
    throw new TypeError("a scenario has `what`, a sentence, and `plan`, whose messages are numbered from 0 on");
  return { what, plan };
}

function isPlan({ seed, messages, faults }: Partial<Plan>): boolean {
  const lists = Array.isArray(messages) && Array.isArray(faults);
  return Number.isSafeInteger(seed) && lists && messages.every(({ number }, index) => number === index);
}
