import type { ShutdownBudgets } from "./model.ts";

/** What cancelled work has for its end, where `drain_timeout` allows it; else half of that. */
const ENDING_MS = 5_000;
/** The part of that in which stores may still be told how deliveries ended. */
const LAST_WORD = 3 / 5;

/** How a stop shares `drain_timeout` out, in milliseconds. */
export interface StopBudget {
  /** What is in flight may settle. */
  readonly quiesceMs: number;
  /** Then it is cancelled, and has this long to end. */
  readonly endingMs: number;
  /** Within that: what stores do not answer by then is given up, and comes again. */
  readonly lastWordMs: number;
}

export function stopBudget({
  drainTimeoutMs,
  quiesceTimeoutMs,
}: Pick<ShutdownBudgets, "drainTimeoutMs" | "quiesceTimeoutMs">): StopBudget {
  const endingMs = Math.min(ENDING_MS, drainTimeoutMs / 2);
  const quiesceMs = Math.min(quiesceTimeoutMs, drainTimeoutMs - endingMs);
  const lastWordMs = endingMs * LAST_WORD;
  holds("drain_timeout", drainTimeoutMs, { quiesceMs, endingMs });
  holds("the end of what is cancelled", endingMs, { lastWordMs });
  return { quiesceMs, endingMs, lastWordMs };
}

/**
 * Makes sure that a budget has room for the waits in it, which come one after another; all in milliseconds. Said where
 * the numbers are, so that nobody changes one of them alone.
 * @throws Error naming the budget and its parts when they are longer than it
 */
export function holds(budget: string, ms: number, parts: Readonly<Record<string, number>>): void {
  const sum = Object.values(parts).reduce((total, part) => total + part, 0);
  if (sum <= ms) return;
  const named = Object.entries(parts).map(([name, part]) => `${name} ${part}`);
  throw new Error(`${budget} has ${ms} ms, and its parts take ${sum}: ${named.join(", ")}`);
}
