import { type Clock, type Logger } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";

/** How many calls of one part may be given up and still run: each holds its message. */
const MOST = 100;
/** How long the limit may be reached before it is reported. */
const TOLD_AFTER_MS = 10_000;

/**
 * The calls of a sender or processor that were given up but still run, because it ignores its signal. When there are
 * too many, it gets no more calls until some have ended.
 */
export class Strays {
  readonly #clock: Clock;
  #count = 0;
  /** When the limit was reached, in monotonic milliseconds. */
  #since = 0;
  #told = false;
  #room = Promise.withResolvers<void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get full(): boolean {
    return this.#count >= MOST;
  }

  /** Whether the limit has been reached for so long that the calls look endless. */
  get stuck(): boolean {
    return this.full && this.#clock.monotonic() - this.#since >= TOLD_AFTER_MS;
  }

  /** A call was given up. */
  add(): void {
    if (++this.#count === MOST) this.#since = this.#clock.monotonic();
  }

  /** A given-up call has ended after all. */
  readonly ended = (): void => {
    this.#count--;
    if (this.full) return;
    this.#told = false;
    this.#room.resolve();
    this.#room = Promise.withResolvers();
  };

  /** Resolves when the count is below the limit, or `signal` aborts. Logs the part if that takes long. */
  async whenRoom(part: string, logger: Logger, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    this.#clock.delay(TOLD_AFTER_MS, AbortSignal.any([signal, over.signal])).then(
      () => this.#tell(part, logger),
      () => {},
    );
    await orAborted(this.#room.promise, signal).catch(() => {});
    over.abort();
  }

  #tell(part: string, logger: Logger): void {
    if (this.#told) return;
    this.#told = true;
    logger.error("the route stands still: calls that were given up do not end", { part, calls: this.#count });
  }
}

const all = new WeakMap<object, Strays>();

/** The strays of one sender or processor, across all routes that use it and all their reloads. */
export function straysOf(part: object, clock: Clock): Strays {
  let strays = all.get(part);
  if (strays === undefined) {
    strays = new Strays(clock);
    all.set(part, strays);
  }
  return strays;
}
