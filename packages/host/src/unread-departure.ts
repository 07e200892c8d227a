import type { ConfigStore, Seams } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import { messageOf } from "./message-of.ts";

const LOOK_MS = 5_000;

/**
 * That nobody knows what the process before was leaving, since what says so cannot be read: it is told until it can be
 * read again, which the next start does, or is removed.
 */
export class UnreadDeparture implements Disposable {
  readonly #departures: ConfigStore["departures"];
  readonly #seams: Pick<Seams, "clock" | "logger">;
  readonly #timer: Disposable | undefined;
  #why: string | undefined;
  #isLooking = false;

  /** @param why it cannot be read. `undefined`: it could be, and nothing is told */
  constructor(why: string | undefined, departures: ConfigStore["departures"], seams: Pick<Seams, "clock" | "logger">) {
    this.#why = why;
    this.#departures = departures;
    this.#seams = seams;
    this.#timer = why === undefined ? undefined : seams.clock.every(LOOK_MS, () => void this.#look());
  }

  get told(): string | undefined {
    return (
      this.#why &&
      `whether the process before was leaving stores that are not empty is not known, and what is stored runs: ${this.#why}`
    );
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { clock, logger } = this.#seams;
    using bound = deadline(clock, LOOK_MS, () => new Error(`it was not read in ${LOOK_MS / 1_000} s`));
    try {
      const former = await this.#departures?.find(bound.signal);
      this.#why = undefined;
      this[Symbol.dispose]();
      if (former !== undefined)
        logger.warn("what says which stores were being left can be read again: the next start runs it first", {
          config_version: former.version,
        });
    } catch (error) {
      this.#why = messageOf(error);
    } finally {
      this.#isLooking = false;
    }
  }
}
