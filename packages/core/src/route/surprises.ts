import { BridgeError, type Clock, type LogFields, type Logger } from "@bridge/ports";
import { stackOf } from "./stack-of.ts";

/** So many lines in a minute: each message may bring the same. */
const LINES = 5;
const PER_MS = 60_000;

/**
 * Logs what was thrown and nobody classified, with where it came from, because it is a mistake in somebody's code: an
 * adapter's, a processor's, an embedder's or ours. What becomes of the message depends on who threw it.
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

  /** `where`: who threw it. Says nothing of what an adapter has classified. Never throws. */
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
