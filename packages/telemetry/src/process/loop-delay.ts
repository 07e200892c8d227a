import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Clock } from "@bridge/ports";

/** How late the event loop was, in seconds. */
export interface LoopDelayStats {
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** The loop is asked to come round so often; what it takes longer is its delay. */
const RESOLUTION_MS = 20;
/** A reading covers the last half minute at least, so that scrapes that far apart miss nothing, and a minute at most. */
const WINDOW_MS = 30_000;

/**
 * Watches how late the event loop is, for any number of readers: a reading resets nothing. Of two watches that begin a
 * window apart the older one is read, and each begins anew when it is two windows old.
 */
export class LoopDelay implements Disposable {
  #older = started();
  #younger = started();
  readonly #turns: Disposable;

  constructor(clock: Clock) {
    this.#turns = clock.every(WINDOW_MS, () => {
      this.#older.reset();
      [this.#older, this.#younger] = [this.#younger, this.#older];
    });
  }

  /** `undefined` when the loop has not come round since the watch began. */
  read(): LoopDelayStats | undefined {
    const watch = this.#older;
    if (watch.count === 0) return undefined;
    return {
      mean: delay(watch.mean),
      p50: delay(watch.percentile(50)),
      p90: delay(watch.percentile(90)),
      p99: delay(watch.percentile(99)),
      max: delay(watch.max),
    };
  }

  [Symbol.dispose](): void {
    this.#turns[Symbol.dispose]();
    this.#older.disable();
    this.#younger.disable();
  }
}

/** Of the nanoseconds between two rounds, those that were not asked for. */
function delay(nanos: number): number {
  return Math.max(0, nanos / 1e9 - RESOLUTION_MS / 1e3);
}

function started(): ReturnType<typeof monitorEventLoopDelay> {
  const watch = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  watch.enable();
  return watch;
}
