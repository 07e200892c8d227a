import type { BridgeError, Clock, LogFields, Logger } from "@bridge/ports";

export interface StandingFaultOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  /** What is said when it begins, and again when it is another one. */
  readonly begins: string;
  /** What is said when it is over. */
  readonly ends: string;
}

/** Tells a fault that lasts: when it begins or becomes another one, and when it is over, with how often it was met. */
export class StandingFault {
  readonly #options: StandingFaultOptions;
  #code: string | undefined;
  #since = 0;
  #failures = 0;

  constructor(options: StandingFaultOptions) {
    this.#options = options;
  }

  get lasts(): boolean {
    return this.#code !== undefined;
  }

  /** It was met. */
  met({ code, message }: BridgeError, fields: LogFields = {}): void {
    const { logger, clock, begins } = this.#options;
    if (this.#code === undefined) this.#since = clock.monotonic();
    this.#failures++;
    if (this.#code === code) return;
    this.#code = code;
    logger.error(begins, { code, error: message, ...fields });
  }

  /** Nothing is wrong. */
  over(): void {
    if (this.#code === undefined) return;
    const { logger, clock, ends } = this.#options;
    logger.info(ends, { failures: this.#failures, lasted_ms: Math.round(clock.monotonic() - this.#since) });
    this.#code = undefined;
    this.#failures = 0;
  }
}
