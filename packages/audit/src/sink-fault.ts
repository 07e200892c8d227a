import { type LogFields, type Logger, systemClock } from "@bridge/ports";

/**
 * What is wrong with a sink. The log is told when it begins or becomes something else, and when it is over: on a full disk
 * each call meets it, and some meet it twice.
 */
export class SinkFault {
  readonly #sink: string;
  readonly #logger: Logger;
  #reason: string | undefined;
  #since = 0;
  #unwritten = 0;

  constructor(sink: string, logger: Logger) {
    this.#sink = sink;
    this.#logger = logger;
  }

  /** As it was met last; `undefined` while nothing is wrong. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** An event was not kept. */
  lost(error: unknown, fields: LogFields): void {
    this.#unwritten++;
    this.met(error, fields);
  }

  /** It was met, whether or not there was an event. */
  met(error: unknown, fields: LogFields = {}): void {
    const former = this.#reason;
    const reason = error instanceof Error ? error.message : String(error);
    if (former === undefined) this.#since = systemClock.monotonic();
    this.#reason = reason;
    if (reason !== former) this.#logger.error("audit sink failed", { sink: this.#sink, ...fields, error: reason });
  }

  /** An event was kept. */
  over(): void {
    if (this.#reason === undefined) return;
    const lasted = Math.round(systemClock.monotonic() - this.#since);
    const facts = { sink: this.#sink, unwritten: this.#unwritten, lasted_ms: lasted };
    this.#logger.info("audit sink works again", facts);
    this.#reason = undefined;
    this.#unwritten = 0;
  }
}
