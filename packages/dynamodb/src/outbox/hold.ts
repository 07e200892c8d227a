import type { Timeline } from "./timeline.ts";

/** Why a record may not be lent yet: somebody has it, or it waits for a retry. */
export interface Hold {
  readonly kind: "lent" | "waits";
  readonly ms: number;
  /** The timeline that measures it. */
  readonly by: string;
  /** Monotonic milliseconds of that timeline. */
  readonly until: number;
  /** Of a retry: epoch milliseconds. */
  readonly dueAt?: number | undefined;
}

/**
 * When a hold ends, in monotonic milliseconds of one's own clock. Another's clock is not asked: what it measures ends
 * when it was seen unmoved for its whole length. A retry may end sooner by the time of day, never later.
 */
export function endOf(hold: Hold, seenAt: number, { name, clock }: Timeline): number {
  const observed = seenAt + hold.ms;
  // Never longer than it is: somebody may have changed the item.
  if (hold.by === name) return Math.min(hold.until, observed);
  if (hold.dueAt === undefined) return observed;
  return Math.min(observed, clock.monotonic() + (hold.dueAt - clock.now()));
}
