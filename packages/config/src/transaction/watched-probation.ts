import type { Clock } from "@bridge/ports";
import type { ConfigApplier } from "./applier.ts";
import { Guard } from "./guard.ts";
import type { OnProbation } from "./on-probation.ts";
import type { OpenProbation } from "./probation-endings.ts";

/** How often the guard is asked, and whether another hand has written. */
const LOOK_MS = 1_000;

/** A change on probation whose end is watched for. */
export interface WatchedProbation extends OpenProbation {
  readonly guard: Guard | undefined;
  readonly timer: Disposable;
  /** On the clock that never jumps. */
  readonly endsAt: number;
  /** How it is being ended, by the one who came first. */
  ending: Promise<unknown> | undefined;
}

/** Begins to watch it: `look` is called each second until its timer is disposed. */
export function watched(
  onProbation: OnProbation,
  { clock, applier }: { readonly clock: Clock; readonly applier: ConfigApplier | undefined },
  look: () => void,
): WatchedProbation {
  const { probation } = onProbation;
  const { guard } = probation;
  const trial = applier?.trial;
  return {
    ...onProbation,
    endsAt: clock.monotonic() + Math.max(0, probation.confirmBy - clock.now()),
    guard: guard === undefined || trial === undefined ? undefined : new Guard(guard, probation.routes, trial, clock),
    timer: clock.every(LOOK_MS, look),
    ending: undefined,
    withdrawn: undefined,
    withdrawal: undefined,
  };
}
