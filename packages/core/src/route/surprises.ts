import { BridgeError, type Clock, type LogFields, type Logger } from "@bridge/ports";
import { stackOf } from "./stack-of.ts";

/** The most lines per minute: every message may throw the same. */
const LINES = 5;
const PER_MS = 60_000;

/**
 * Logs errors that nobody classified, with their stack, because each is a mistake in some code: an adapter's, a
 * processor's, an embedder's or ours. What happens to the message depends on who threw.
 */
export class Surprises {
  readonly #logger: Logger;
  readonly #clock: Clock;
  #since = -Infinity;
  #lines = 0;
  #untold = 0;

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  /** Ignores errors that an adapter has classified. Never throws. `where`: who threw it. */
  tell(where: string, thrown: unknown, fields: LogFields = {}): void {
    if (BridgeError.is(thrown)) return;
    const now = this.#clock.monotonic();
    if (now - this.#since >= PER_MS) [this.#since, this.#lines] = [now, 0];
    if (++this.#lines > LINES) {
      this.#untold++;
      return;
    }
    const { message } = BridgeError.from(thrown);
    this.#logger.error("unexpected error: nobody has classified it, and others go on", {
      where,
      ...fields,
      error: message,
      stack: stackOf(thrown),
      ...(this.#untold > 0 && { untold: this.#untold }),
    });
    this.#untold = 0;
  }
}
