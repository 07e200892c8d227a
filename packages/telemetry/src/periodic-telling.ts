import { type Clock } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import type { Family } from "./family.ts";

export interface PeriodicTellingOptions {
  readonly intervalMs: number;
  readonly clock: Clock;
  /** Hands over the families that it is asked for; rejects when that fails. */
  readonly tell: (which: (family: Family) => boolean) => Promise<void>;
  /** Hears of each failure but the last one, which is the end's. */
  readonly failed: (error: Error) => void;
}

/** Has metrics told once in each interval, and once more at the end. */
export class PeriodicTelling {
  readonly #options: PeriodicTellingOptions;
  readonly #over = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: PeriodicTellingOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  /**
   * Tells what has been counted since the last time; not the gauges, which are those of a bridge that has been told to
   * end. Rejects when that cannot be handed over, or with the signal's reason.
   */
  async stop(signal: AbortSignal): Promise<void> {
    this.#over.abort();
    await orAborted(
      this.#running.then(() => this.#options.tell(({ type }) => type === "counter" || type === "histogram")),
      signal,
    );
  }

  async #run(): Promise<void> {
    const { clock, intervalMs, tell, failed } = this.#options;
    const { signal } = this.#over;
    while (!signal.aborted) {
      try {
        await clock.delay(intervalMs, signal);
        await tell(() => true);
      } catch (error) {
        if (signal.aborted) return;
        failed(error instanceof Error ? error : new Error(String(error)));
      }
    }
  }
}
