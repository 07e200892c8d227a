import type { Lease } from "../lease/lease.ts";
import type { Outcome } from "./outcome.ts";
import type { Target } from "./route-parts.ts";
import type { Work } from "./work.ts";

/** What "handed on" means in a delivery mode: how a message with known targets is taken off the source's hands. */
export interface Handover extends Disposable {
  /** Whether this mode can hand messages on right now, as far as its own resources go. */
  readonly able: boolean;
  /** Nothing is taken from the source unless all of these are held, because nothing could be handed on. */
  readonly leases: readonly Lease[];
  /** When a target last accepted one of these messages, in monotonic milliseconds; `undefined` if others observe that. */
  readonly acceptedAt: number | undefined;
  /** Carries one leg to each target to its end, and enters each in the accounts. Rejects only on a bug. */
  handOn(work: Work, targets: readonly Target[]): Promise<Outcome>;
  /** Gives up the work: nothing of it is settled, charged or dead-lettered. */
  cancel(work: Work): void;
}
