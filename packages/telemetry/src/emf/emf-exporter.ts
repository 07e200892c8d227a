import { type Clock, type Logger } from "@bridge/ports";
import { steadyLogger } from "@bridge/ports/internal";
import type { Family } from "../family.ts";
import { PeriodicTelling } from "../periodic-telling.ts";
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
  readonly #telling: PeriodicTelling;

  constructor(options: EmfExporterOptions) {
    const { clock, intervalMs } = options;
    const logger = steadyLogger(options.logger);
    this.#options = options;
    this.#lines = new EmfLines(options);
    this.#telling = new PeriodicTelling({
      clock,
      intervalMs,
      tell: (which) => this.#tell(which),
      failed: (error) => logger.warn("metrics not written", { error: error.message }),
    });
  }

  start(): void {
    this.#telling.start();
  }

  /** Tells what has been counted since the last time. Rejects when that cannot be written, or with the signal's reason. */
  stop(signal: AbortSignal): Promise<void> {
    return this.#telling.stop(signal);
  }

  async #tell(which: (family: Family) => boolean): Promise<void> {
    const { read, write, clock } = this.#options;
    const lines = this.#lines.next((await read()).filter(which), clock.now());
    if (lines.length > 0) await write(`${lines.join("\n")}\n`);
    this.#lines.told();
  }
}
