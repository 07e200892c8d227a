import type { BridgeError, Clock, LogFields, Logger } from "@bridge/ports";

export interface StandingFaultOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  /** Logged when the fault begins, and again when it changes. */
  readonly begins: string;
  /** Logged when it is over. */
  readonly ends: string;
}

/** Logs a lasting fault: when it begins or changes, and when it is over, with how often it was met. */
export class StandingFault {
  readonly #options: StandingFaultOptions;
  #fault: BridgeError | undefined;
  #since = 0;
  #failures = 0;

  constructor(options: StandingFaultOptions) {
    this.#options = options;
  }

  /** The fault as last met; `undefined` while there is none. */
  get fault(): BridgeError | undefined {
    return this.#fault;
  }

  /** The fault was met again. */
  met(fault: BridgeError, fields: LogFields = {}): void {
    const { logger, clock, begins } = this.#options;
    const former = this.#fault;
    if (former === undefined) this.#since = clock.monotonic();
    this.#failures++;
    this.#fault = fault;
    if (former?.code === fault.code) return;
    logger.error(begins, { code: fault.code, error: fault.message, ...fields });
  }

  /** The fault is over. */
  over(): void {
    if (this.#fault === undefined) return;
    const { logger, clock, ends } = this.#options;
    logger.info(ends, { failures: this.#failures, lasted_ms: Math.round(clock.monotonic() - this.#since) });
    this.#fault = undefined;
    this.#failures = 0;
  }
}
