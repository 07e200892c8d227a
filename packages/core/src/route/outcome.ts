import type { BridgeError } from "@bridge/ports";
import type { Disposition } from "../view/stats.ts";

/** What became of one leg, a delivery to one binding. */
export interface LegOutcome<Ended extends string = Disposition | "persisted"> {
  /** `persisted`: it is in the outbox, which delivers it. */
  readonly disposition: Ended;
  /** Why it was not delivered. */
  readonly error?: BridgeError | undefined;
  /** With `released`: how long the source should wait. Absent if the message was refused and must not come again. */
  readonly delayMs?: number | undefined;
  /** Empty when it failed before a binding was chosen. */
  readonly bindingId: string;
  /** The outbox record that stands for the leg: with `persisted` and `duplicate`. */
  readonly recordId?: string | undefined;
}

/** A leg that has ended. */
export type EndedLeg = LegOutcome<Disposition>;

/** What became of a delivery, over all of its legs. */
export interface Outcome extends Omit<LegOutcome, "bindingId" | "recordId"> {
  /** The bindings whose legs were neither delivered nor persisted. */
  readonly failedBindings: readonly string[];
  /** The legs that are in the outbox, or were already there. */
  readonly records?: readonly LegOutcome[];
}

/** When legs differ, the outcome that the source and the operator need to know first. */
const GRAVITY: readonly LegOutcome["disposition"][] = [
  "abandoned",
  "released",
  "dead_lettered",
  "dropped",
  "expired",
  "filtered",
  "duplicate",
  "persisted",
  "delivered",
];

const HANDED_ON: ReadonlySet<LegOutcome["disposition"]> = new Set(["delivered", "persisted"]);

/** Combines the outcomes of all legs: `delivered` only if every leg was, otherwise the gravest. */
export function summarise(legs: readonly LegOutcome[]): Outcome {
  const gravest = legs.toSorted((a, b) => GRAVITY.indexOf(a.disposition) - GRAVITY.indexOf(b.disposition))[0];
  const failed = legs.filter((leg) => !HANDED_ON.has(leg.disposition));
  const records = legs.filter((leg) => leg.recordId !== undefined);
  return {
    disposition: gravest?.disposition ?? "delivered",
    error: gravest?.error,
    delayMs: gravest?.delayMs,
    failedBindings: failed.map((leg) => leg.bindingId).filter((id) => id !== ""),
    ...(records.length > 0 && { records }),
  };
}
