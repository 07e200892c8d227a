import { type LegReading, sendQuantile } from "./leg-reading.ts";

/** What is drawn over time; `in`, `out`, `failed` and `dead` a second, sends in milliseconds; `dlq` is how many dead letters there are. */
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

/** So many steps of one length, of one place: plain numbers, 4 bytes each. */
export class SeriesRing {
  readonly stepMs: number;
  readonly #length: number;
  readonly #values: Readonly<Record<SeriesName, Float32Array>>;
  #before: LegReading;
  #next = 0;

  /** Before `reading` nothing is known. */
  constructor(stepMs: number, length: number, reading: LegReading) {
    this.stepMs = stepMs;
    this.#length = length;
    this.#before = reading;
    this.#values = Object.fromEntries(
      SERIES.map((name) => [name, new Float32Array(length).fill(Number.NaN)]),
    ) as Record<SeriesName, Float32Array>;
  }

  /** A step is over, which has taken `tookMs`; without a count of dead letters, which are not of one place, that is not known. */
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

  /** Oldest first; `NaN` for a step before the start, and of sends for one without any. */
  read(name: SeriesName): Float32Array {
    const ring = this.#values[name];
    const read = new Float32Array(this.#length);
    read.set(ring.subarray(this.#next));
    read.set(ring.subarray(0, this.#next), this.#length - this.#next);
    return read;
  }
}
