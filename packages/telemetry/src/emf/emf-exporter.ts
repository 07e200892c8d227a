import { type Clock, type Logger, orAborted } from "@bridge/ports";
import type { Family } from "../family.ts";
import { type EmfFrame, EmfLines } from "./emf-lines.ts";

export interface EmfExporterOptions extends EmfFrame {
  readonly read: () => Promise<readonly Family[]>;
  /** Writes text, whole lines at a time; resolves when it is handed over. */
  readonly write: (text: string) => Promise<void>;
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Writes what a process counts as lines of CloudWatch's embedded metric format, which whatever collects the logs turns
 * into metrics: once in each interval, and once more at the end. A write that fails is logged, and the next one tells what
 * counters grew by in both intervals.
 */
export class EmfExporter {
  readonly name = "metrics flush";
  readonly #options: EmfExporterOptions;
  readonly #lines: EmfLines;
  readonly #over = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: EmfExporterOptions) {
    this.#options = options;
    this.#lines = new EmfLines(options);
  }

  start(): void {
    this.#running = this.#run();
  }

  /**
   * Tells what has been counted since the last time; not the gauges, which are those of a bridge that has been told to
   * end. Rejects when that cannot be written, or with the signal's reason.
   */
  async stop(signal: AbortSignal): Promise<void> {
    this.#over.abort();
    await orAborted(
      this.#running.then(() => this.#tell(({ type }) => type === "counter" || type === "histogram")),
      signal,
    );
  }

  async #run(): Promise<void> {
    const { clock, intervalMs, logger } = this.#options;
    const { signal } = this.#over;
    while (!signal.aborted) {
      try {
        await clock.delay(intervalMs, signal);
        await this.#tell();
      } catch (error) {
        if (signal.aborted) return;
        logger.warn("metrics not written", { error: error instanceof Error ? error.message : String(error) });
      }
    }
  }

  async #tell(what: (family: Family) => boolean = () => true): Promise<void> {
    const { read, write, clock } = this.#options;
    const lines = this.#lines.next((await read()).filter(what), clock.now());
    if (lines.length > 0) await write(`${lines.join("\n")}\n`);
    this.#lines.told();
  }
}
