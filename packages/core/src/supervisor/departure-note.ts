import { type BridgeConfig, placesOf } from "@bridge/config";
import type { ConfigDepartures, Seams } from "@bridge/ports";
import { deadline, orAborted, Serial } from "@bridge/ports/internal";
import { asError } from "../as-error.ts";
import { couldStrand } from "../change/stranding.ts";

/** How long the store of the document may take for each thing that it is asked. */
const NOTE_TIMEOUT_MS = 10_000;

/**
 * Remembers, beside the document, under which configuration messages came in, for as long as a start with what is stored would leave them
 * behind: a commit is stored before it is in force, and a changed file may never be.
 */
export class DepartureNote {
  readonly #departures: ConfigDepartures | undefined;
  readonly #seams: Pick<Seams, "clock" | "logger">;
  readonly #turns = new Serial();
  /** Under which came in what may still wait. */
  #held: BridgeConfig;
  /** What the next start would run. */
  #stored: BridgeConfig;
  /** Something is remembered, or may be. */
  #isNoted = false;
  /** Why that could not be done, as the log says. */
  #told: string | undefined;

  constructor(departures: ConfigDepartures | undefined, seams: Pick<Seams, "clock" | "logger">, config: BridgeConfig) {
    this.#departures = departures;
    this.#seams = seams;
    this.#held = this.#stored = config;
  }

  /** `config` is about to be stored. Resolves to what is to be called when it is stored no more. */
  async announce(config: BridgeConfig): Promise<() => Promise<void>> {
    const before = this.#stored;
    this.#stored = config;
    try {
      // What is stored is another one yet: nothing is forgotten.
      await this.#settle(false);
    } catch (error) {
      this.#stored = before;
      throw error;
    }
    return () => {
      this.#stored = before;
      return this.#settle(true);
    };
  }

  /** `config` is stored: see {@link remember}. */
  stores(config: BridgeConfig): void {
    this.#stored = config;
  }

  /** Remembers what runs, if it has to be. Never rejects: what is stored already goes on, also where nothing can be written. */
  async remember(): Promise<void> {
    try {
      await this.#settle(true);
      this.#told = undefined;
    } catch (thrown) {
      const error = asError(thrown).message;
      if (error === this.#told) return;
      this.#told = error;
      this.#seams.logger.warn(
        "what the change leaves is not remembered: if the process ends before it is in force, messages may be left behind",
        { error },
      );
    }
  }

  /**
   * Nothing waits that came in under another configuration than this one. To be called before anything comes in under it: what waits in
   * its stores would else be overtaken, after the process has ended, by what a start with the other one takes in. Rejects when the other
   * one cannot be forgotten.
   */
  holds(config: BridgeConfig): Promise<void> {
    this.#held = config;
    return this.#settle(true);
  }

  /** What ran runs again, whatever can be written. Never rejects. */
  holdsAgain(config: BridgeConfig): Promise<void> {
    this.#held = config;
    return this.remember();
  }

  #settle(forgets: boolean): Promise<void> {
    return this.#turns.run(async () => {
      const departures = this.#departures;
      if (departures === undefined) return;
      const due = this.#held.stored !== undefined && couldStrand(this.#held, this.#stored) ? this.#held : undefined;
      if (due === undefined && !(forgets && this.#isNoted)) return;
      // Also what is remembered already: another process that starts on the same document may have taken it away.
      this.#isNoted = true;
      const { clock } = this.#seams;
      using bound = deadline(
        clock,
        NOTE_TIMEOUT_MS,
        new Error("the store of the configuration did not answer in 10 s"),
      );
      const { signal } = bound;
      const { stored, stores } = due ?? {};
      const done =
        stored === undefined || stores === undefined
          ? departures.forget(signal)
          : departures.remember(stored, signal, placesOf(stores));
      await orAborted(done, signal);
      this.#isNoted = due !== undefined;
    });
  }
}
