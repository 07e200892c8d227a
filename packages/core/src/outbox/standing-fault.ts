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
  #fault: BridgeError | undefined;
  #since = 0;
  #failures = 0;

  constructor(options: StandingFaultOptions) {
    this.#options = options;
  }

  /** As it was met last; `undefined` while nothing is wrong. */
  get fault(): BridgeError | undefined {
    return this.#fault;
  }

  /** It was met. */
  met(fault: BridgeError, fields: LogFields = {}): void {
    const { logger, clock, begins } = this.#options;
    const former = this.#fault;
    if (former === undefined) this.#since = clock.monotonic();
    this.#failures++;
    this.#fault = fault;
    if (former?.code === fault.code) return;
    logger.error(begins, { code: fault.code, error: fault.message, ...fields });
  }

  /** Nothing is wrong. */
  over(): void {
    if (this.#fault === undefined) return;
    const { logger, clock, ends } = this.#options;
    logger.info(ends, { failures: this.#failures, lasted_ms: Math.round(clock.monotonic() - this.#since) });
    this.#fault = undefined;
    this.#failures = 0;
  }
}
