import type { Clock, Logger } from "@bridge/ports";

const PER_MS = 60_000;
/** Anybody can make up a path. */
const MAX_PATH = 256;

/** Says that answers were cut, once a minute: what a client that reads nothing brings upon itself may come a thousand times. */
export class CutLines {
  readonly #logger: Logger;
  readonly #clock: Clock;
  #since = -Infinity;
  #untold = 0;

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  /** `target`: what was asked for. */
  tell(target = ""): void {
    this.#untold++;
    const now = this.#clock.monotonic();
    if (now - this.#since < PER_MS) return;
    this.#logger.warn("answers were cut: their clients did not take them", {
      path: target.replace(/[?#].*/s, "").slice(0, MAX_PATH),
      cut: this.#untold,
    });
    this.#since = now;
    this.#untold = 0;
  }
}
