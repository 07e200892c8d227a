import type { Clock } from "@bridge/ports";
import type { LegStats } from "../view/stats.ts";
import type { RecentSends } from "./condition-facts.ts";
import { countsBetween, quantileOf } from "./quantile.ts";

const WINDOW_MS = 5 * 60_000;
const STEP_MS = 60_000;
/** How many bindings are tracked. */
const MAX_LEGS = 1_000;

interface Sends {
  readonly bounds: readonly number[];
  readonly accepted: readonly number[];
  readonly failed: number;
}

/** The sends of the last five minutes. */
export class SendWindow {
  readonly #clock: Clock;
  /** One reading per minute, oldest first. */
  #before: { readonly at: number; readonly sends: ReadonlyMap<string, Sends> }[] = [];
  #legs: readonly LegStats[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  look(legs: readonly LegStats[]): void {
    this.#legs = legs.filter(({ attempts, bindingId }) => attempts > 0 && bindingId !== "").slice(0, MAX_LEGS);
    const now = this.#clock.monotonic();
    const last = this.#before.at(-1);
    if (last !== undefined && now - last.at < STEP_MS) return;
    this.#before.push({ at: now, sends: new Map(this.#legs.map((leg) => [keyOf(leg), sendsOf(leg)])) });
    // The window begins with the newest reading that is old enough.
    while ((this.#before[1]?.at ?? now) <= now - WINDOW_MS) this.#before.shift();
  }

  read(): readonly RecentSends[] {
    const began = this.#before[0]?.sends;
    return this.#legs.flatMap((leg) => {
      const now = sendsOf(leg);
      const before = began?.get(keyOf(leg));
      const accepted = countsBetween(before?.accepted ?? [], now.accepted);
      const failed = now.failed - (before?.failed ?? 0);
      const all = accepted.reduce((sum, count) => sum + count, failed);
      if (all === 0) return [];
      const p99Ms = quantileOf(0.99, now.bounds, accepted);
      const { routeId, bindingId } = leg;
      return [{ routeId, bindingId, failedShare: failed / all, ...(p99Ms !== undefined && { p99Ms }) }];
    });
  }
}

function keyOf({ routeId, bindingId }: LegStats): string {
  return JSON.stringify([routeId, bindingId]);
}

function sendsOf({ sends: { accepted, failed } }: LegStats): Sends {
  return {
    bounds: accepted.bounds,
    accepted: accepted.counts,
    failed: failed.counts.reduce((sum, count) => sum + count, 0),
  };
}
