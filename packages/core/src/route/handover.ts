import type { Lease } from "../lease/lease.ts";
import type { Outcome } from "./outcome.ts";
import type { Target } from "./route-parts.ts";
import type { Work } from "./work.ts";

/** What "handed on" means in a delivery mode: how a message that knows its targets gets off the source's hands. */
export interface Handover extends Disposable {
  /** Whether messages can be handed on right now, as far as this mode's own means go. */
  readonly able: boolean;
  /** Without these nothing can be handed on, so nothing is taken from the source. */
  readonly leases: readonly Lease[];
  /** Monotonic milliseconds: when a target last accepted one of these messages; `undefined` when that is for others to see. */
  readonly acceptedAt: number | undefined;
  /** Carries one leg to each target to its end, and enters each into the accounts. Rejects only for a bug. */
  handOn(work: Work, targets: readonly Target[]): Promise<Outcome>;
  /** Gives up what is being done for `work`: nothing of it is settled, charged or dead-lettered. */
  cancel(work: Work): void;
}
