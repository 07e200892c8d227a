import { type LegReading, sendQuantile } from "./leg-reading.ts";

/**
 * What is recorded over time: `in`, `out`, `failed` and `dead` per second, send durations in milliseconds, `dlq` as the
 * number of dead letters.
 */
export const SERIES = [
  "in",
  "out",
  "failed",
  "dead",
  "in_flight",
  "in_outbox",
  "send_p50_ms",
  "send_p99_ms",
  "dlq",
] as const;
export type SeriesName = (typeof SERIES)[number];

/** A fixed number of steps of one length, for one place: plain numbers, 4 bytes each. */
export class SeriesRing {
  readonly stepMs: number;
  readonly #length: number;
  readonly #values: Readonly<Record<SeriesName, Float32Array>>;
  #before: LegReading;
  #next = 0;

  /** Nothing is known from before `reading`. */
  constructor(stepMs: number, length: number, reading: LegReading) {
    this.stepMs = stepMs;
    this.#length = length;
    this.#before = reading;
    this.#values = Object.fromEntries(
      SERIES.map((name) => [name, new Float32Array(length).fill(Number.NaN)]),
    ) as Record<SeriesName, Float32Array>;
  }

  /**
   * Ends a step that took `tookMs`. Leave out `deadLetters` for a single place, because dead letters are counted for
   * the process only.
   */
  add(now: LegReading, tookMs: number, deadLetters = Number.NaN): void {
    const before = this.#before;
    const perSecond = 1_000 / Math.max(1, tookMs);
    const values: Readonly<Record<SeriesName, number>> = {
      in: (now.in - before.in) * perSecond,
      out: (now.out - before.out) * perSecond,
      failed: (now.failed - before.failed) * perSecond,
      dead: (now.dead - before.dead) * perSecond,
      in_flight: now.inFlight,
      in_outbox: now.inOutbox,
      send_p50_ms: sendQuantile(0.5, before, now) ?? Number.NaN,
      send_p99_ms: sendQuantile(0.99, before, now) ?? Number.NaN,
      dlq: deadLetters,
    };
    for (const name of SERIES) this.#values[name][this.#next] = values[name];
    this.#next = (this.#next + 1) % this.#length;
    this.#before = now;
  }

  /** Oldest first; `NaN` for steps before the start, and for send durations of a step without sends. */
  read(name: SeriesName): Float32Array {
    const ring = this.#values[name];
    const read = new Float32Array(this.#length);
    read.set(ring.subarray(this.#next));
    read.set(ring.subarray(0, this.#next), this.#length - this.#next);
    return read;
  }
}
