import type { BridgeError } from "@bridge/ports";
import type { Disposition } from "../view/stats.ts";

/** What became of one leg, a delivery to one binding. */
export interface LegOutcome {
  readonly disposition: Disposition;
  /** Why it was not delivered. */
  readonly error?: BridgeError | undefined;
  /** With `released`: how long the source is to wait. */
  readonly delayMs?: number | undefined;
  /** Empty when it failed before a binding was chosen. */
  readonly bindingId: string;
}

/** What became of a delivery, over all of its legs. */
export interface Outcome extends Omit<LegOutcome, "bindingId"> {
  /** The bindings whose legs were not delivered. */
  readonly failedBindings: readonly string[];
}

/** When legs differ, the outcome that the source and the operator need to know first. */
const GRAVITY: readonly Disposition[] = [
  "abandoned",
  "released",
  "dead_lettered",
  "dropped",
  "expired",
  "filtered",
  "duplicate",
  "delivered",
];

/** One outcome for all legs: `delivered` only when every one was, and the gravest otherwise. */
export function summarise(legs: readonly LegOutcome[]): Outcome {
  const failed = legs.filter((leg) => leg.disposition !== "delivered");
  const gravest = failed.toSorted((a, b) => GRAVITY.indexOf(a.disposition) - GRAVITY.indexOf(b.disposition))[0];
  return {
    disposition: gravest?.disposition ?? "delivered",
    error: gravest?.error,
    delayMs: gravest?.delayMs,
    failedBindings: failed.map((leg) => leg.bindingId).filter((id) => id !== ""),
  };
}
