import type { Settlement } from "@bridge/ports";
import type { Outcome } from "./outcome.ts";

/**
 * What to tell the source about an outcome; `undefined`: never anything (design: the settle table). Cancellation never
 * settles.
 */
export function settlementOf(outcome: Outcome, envelopeId: string): Settlement | undefined {
  switch (outcome.disposition) {
    case "abandoned":
      return undefined;
    case "released":
      if (outcome.delayMs === undefined && outcome.error !== undefined) return { kind: "refuse", error: outcome.error };
      return { kind: "release", delayMs: outcome.delayMs ?? 0 };
    case "delivered":
    case "persisted":
    case "dead_lettered":
    case "dropped":
    case "filtered":
    case "expired":
    case "duplicate":
      return { kind: "accept", outcome: outcome.disposition, envelopeId };
  }
}
