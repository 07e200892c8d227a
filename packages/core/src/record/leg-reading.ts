import type { HistogramStats } from "../accounting/histogram.ts";
import type { LegStats } from "../view/stats.ts";
import { countsBetween, quantileOf } from "./quantile.ts";

/**
 * One place's counters and gauges at one moment. `LegStats` reads its histograms on access; this holds their values of
 * that moment.
 */
export interface LegReading {
  readonly in: number;
  readonly out: number;
  /** Sends. */
  readonly failed: number;
  readonly dead: number;
  readonly inFlight: number;
  readonly inOutbox: number;
  /** Durations of accepted sends. */
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

/**
 * The quantile `share` of the durations of sends accepted between two readings, in milliseconds; `undefined` if there
 * were none.
 */
export function sendQuantile(share: number, before: LegReading, now: LegReading): number | undefined {
  const { bounds, counts } = now.accepted;
  return quantileOf(share, bounds, countsBetween(before.accepted.counts, counts));
}
