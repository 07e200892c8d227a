import { type Clock, type Logger } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";

/** So many calls of one part may go on after they were given up: each keeps its message. */
const MOST = 100;
/** Those that were given up together have this long to end before anybody is told. */
const TOLD_AFTER_MS = 10_000;

/**
 * The calls of a sender or a processor that were given up and have not ended, because it does not heed its signal. When there are
 * many, nothing more is asked of it until some have ended.
 */
export class Strays {
  readonly #clock: Clock;
  #count = 0;
  /** Monotonic milliseconds: since when there are too many. */
  #since = 0;
  #told = false;
  #room = Promise.withResolvers<void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get full(): boolean {
    return this.#count >= MOST;
  }

  /** Whether there are too many for so long that it looks as if they never end. */
  get stuck(): boolean {
    return this.full && this.#clock.monotonic() - this.#since >= TOLD_AFTER_MS;
  }

  /** A call was given up. */
  add(): void {
    if (++this.#count === MOST) this.#since = this.#clock.monotonic();
  }

  /** It has ended after all. */
  readonly ended = (): void => {
    this.#count--;
    if (this.full) return;
    this.#told = false;
    this.#room.resolve();
    this.#room = Promise.withResolvers();
  };

  /** Resolves when there are few enough, or `signal` aborts. Says which part it is when that takes long. */
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

/** Those of one sender or processor, whichever routes use it and however often they are reloaded. */
export function straysOf(part: object, clock: Clock): Strays {
  let strays = all.get(part);
  if (strays === undefined) {
    strays = new Strays(clock);
    all.set(part, strays);
  }
  return strays;
}
