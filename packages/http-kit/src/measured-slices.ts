import type { Clock } from "@bridge/ports";
import { Slices } from "@bridge/ports/internal";

/** What making something has cost the event loop, in milliseconds. */
export interface LoopUse {
  /** Processor time. */
  readonly usedMs: number;
  /** How long that took: on a busy machine longer, as it does something else meanwhile. */
  readonly tookMs: number;
}

/** Slices that know what they cost. What other threads of the process used meanwhile counts at most for as long as they took. */
export class MeasuredSlices extends Slices {
  readonly #clock: Clock;
  #beganAt = 0;
  #usedBefore = 0;
  #usedMs = 0;
  #tookMs = 0;

  constructor(clock: Clock, sliceMs: number | undefined) {
    super(clock, undefined, sliceMs);
    this.#clock = clock;
    this.#begin();
  }

  /** Of all of them, the one that is not over included. */
  get use(): LoopUse {
    const tookMs = this.#clock.monotonic() - this.#beganAt;
    const usedMs = Math.min(tookMs, this.#used() - this.#usedBefore);
    return { usedMs: this.#usedMs + usedMs, tookMs: this.#tookMs + tookMs };
  }

  override async next(): Promise<void> {
    ({ usedMs: this.#usedMs, tookMs: this.#tookMs } = this.use);
    await super.next();
    this.#begin();
  }

  #begin(): void {
    this.#usedBefore = this.#used();
    this.#beganAt = this.#clock.monotonic();
  }

  #used(): number {
    return this.#clock.cpu?.() ?? this.#clock.monotonic();
  }
}
