import type { HistogramStats } from "../accounting/histogram.ts";
import type { LegStats } from "../view/stats.ts";
import { countsBetween, quantileOf } from "./quantile.ts";

/** Counters and gauges of one place at one moment. `LegStats` reads its histograms when somebody looks, and this has them as they were. */
export interface LegReading {
  readonly in: number;
  readonly out: number;
  /** Sends. */
  readonly failed: number;
  readonly dead: number;
  readonly inFlight: number;
  readonly inOutbox: number;
  /** How long accepted sends took. */
  readonly accepted: HistogramStats;
}

export function legReading(leg: LegStats): LegReading {
  const { dispositions, sends } = leg;
  return {
    in: leg.received + leg.injected,
    out: dispositions.delivered + dispositions.duplicate,
    failed: sends.failed.counts.reduce((sum, count) => sum + count, 0),
    dead: dispositions.dead_lettered,
    inFlight: leg.inFlight,
    inOutbox: leg.inOutbox,
    accepted: sends.accepted,
  };
}

/** How long this share of the sends took at most that were accepted between two readings, in milliseconds; `undefined` without any. */
export function sendQuantile(share: number, before: LegReading, now: LegReading): number | undefined {
  const { bounds, counts } = now.accepted;
  return quantileOf(share, bounds, countsBetween(before.accepted.counts, counts));
}
