import type { Clock } from "@bridge/ports";
import type { HistogramStats } from "../accounting/histogram.ts";
import { SEND_BOUNDS_MS } from "../accounting/duration-bounds.ts";
import type { LegStats } from "../view/stats.ts";
import { type LegReading, legReading } from "./leg-reading.ts";
import { SERIES, type SeriesName, SeriesRing } from "./series-ring.ts";

/** How many bindings have series of their own; all count towards the process. */
const MAX_PLACES = 200;

/** The step and the number of steps of each window: 2,100 steps in all, so one place takes 76 kB and all of them 15.2 MB. */
export const SERIES_WINDOWS = {
  "5m": { stepMs: 1_000, steps: 300 },
  "1h": { stepMs: 10_000, steps: 360 },
  "24h": { stepMs: 60_000, steps: 1_440 },
} as const;
export type SeriesWindow = keyof typeof SERIES_WINDOWS;

/** Values over time. */
export interface SeriesView {
  /** When the first step began, in epoch milliseconds. */
  readonly from: number;
  readonly stepMs: number;
  /**
   * `null` for time before the start, for send durations of a step without sends, and for `dlq` while it is not counted
   * or for a route or binding.
   */
  readonly values: Readonly<Record<SeriesName, readonly (number | null)[]>>;
}

interface Place {
  readonly routeId: string;
  readonly bindingId: string;
  readonly rings: Readonly<Record<SeriesWindow, SeriesRing>>;
}

const WINDOWS = Object.keys(SERIES_WINDOWS) as readonly SeriesWindow[];
const NO_SENDS: HistogramStats = { bounds: SEND_BOUNDS_MS, counts: SEND_BOUNDS_MS.concat(0).map(() => 0), sum: 0 };
/** Across several bindings these do not add up: the highest is shown. */
const HIGHEST: ReadonlySet<SeriesName> = new Set(["send_p50_ms", "send_p99_ms"]);

/** Rings of plain numbers for the process and its first bindings, filled from the counters. */
export class Series {
  readonly #clock: Clock;
  readonly #all: Place["rings"];
  readonly #places = new Map<string, Place>();
  /** When each window's last step ended, in monotonic milliseconds. */
  readonly #endedAt: Record<SeriesWindow, number>;

  constructor(clock: Clock, legs: readonly LegStats[]) {
    this.#clock = clock;
    const now = clock.monotonic();
    this.#endedAt = { "5m": now, "1h": now, "24h": now };
    this.#all = ringsFrom(sumOf(legs.map(legReading)));
    for (const leg of legs) this.#placeOf(leg);
  }

  /** Call once a second. `deadLetters`: their number when last counted. */
  tick(legs: readonly LegStats[], deadLetters?: number): void {
    const now = this.#clock.monotonic();
    const due = WINDOWS.filter((window) => now - this.#endedAt[window] >= SERIES_WINDOWS[window].stepMs - TOLERANCE_MS);
    if (due.length === 0) return;
    const readings: LegReading[] = [];
    for (const leg of legs) {
      const place = this.#placeOf(leg);
      const reading = legReading(leg);
      readings.push(reading);
      for (const window of due) place?.rings[window].add(reading, now - this.#endedAt[window]);
    }
    const sum = sumOf(readings);
    for (const window of due) {
      this.#all[window].add(sum, now - this.#endedAt[window], deadLetters);
      this.#endedAt[window] = now;
    }
  }

  /** The series of the process, a route or one of its bindings; `undefined` if there is none. */
  read(window: SeriesWindow, routeId?: string, bindingId?: string): SeriesView | undefined {
    const rings = this.#ringsOf(window, routeId, bindingId);
    if (rings.length === 0) return undefined;
    const { stepMs, steps } = SERIES_WINDOWS[window];
    const from = this.#clock.now() - (this.#clock.monotonic() - this.#endedAt[window]) - stepMs * steps;
    const values = SERIES.map((name) => [name, together(rings, name, steps)] as const);
    return { from, stepMs, values: Object.fromEntries(values) as SeriesView["values"] };
  }

  #ringsOf(window: SeriesWindow, routeId?: string, bindingId?: string): readonly SeriesRing[] {
    if (routeId === undefined) return [this.#all[window]];
    return [...this.#places.values()]
      .filter((place) => place.routeId === routeId && (bindingId === undefined || place.bindingId === bindingId))
      .map(({ rings }) => rings[window]);
  }

  #placeOf(leg: LegStats): Place | undefined {
    const key = JSON.stringify([leg.routeId, leg.bindingId]);
    const known = this.#places.get(key);
    if (known !== undefined || this.#places.size >= MAX_PLACES || leg.routeId === "") return known;
    const place = { routeId: leg.routeId, bindingId: leg.bindingId, rings: ringsFrom(legReading(leg)) };
    this.#places.set(key, place);
    return place;
  }
}

/** A timer may fire slightly early. */
const TOLERANCE_MS = 100;

function ringsFrom(reading: LegReading): Place["rings"] {
  const rings = WINDOWS.map((window) => {
    const { stepMs, steps } = SERIES_WINDOWS[window];
    return [window, new SeriesRing(stepMs, steps, reading)] as const;
  });
  return Object.fromEntries(rings) as Record<SeriesWindow, SeriesRing>;
}

function sumOf(readings: readonly LegReading[]): LegReading {
  const sum = { in: 0, out: 0, failed: 0, dead: 0, inFlight: 0, inOutbox: 0 };
  const counts = NO_SENDS.counts.slice();
  for (const reading of readings) {
    for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += reading[name];
    for (const [bucket, count] of reading.accepted.counts.entries()) counts[bucket] = (counts[bucket] ?? 0) + count;
  }
  return { ...sum, accepted: { ...NO_SENDS, counts } };
}

function together(rings: readonly SeriesRing[], name: SeriesName, steps: number): readonly (number | null)[] {
  const values = Array.from<number | null>({ length: steps }).fill(null);
  for (const ring of rings) {
    for (const [step, value] of ring.read(name).entries()) {
      if (Number.isNaN(value)) continue;
      const before = values[step] ?? 0;
      values[step] = HIGHEST.has(name) ? Math.max(before, value) : before + value;
    }
  }
  return values.map((value) => value && Math.round(value * 100) / 100);
}
