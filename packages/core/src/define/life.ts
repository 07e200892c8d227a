import { orAborted } from "@bridge/ports/internal";
import { OperationError } from "../operation-error.ts";
import type { Supervisor } from "../supervisor/contract.ts";

/**
 * A bridge in code from the call that begins it to its shutdown. Who starts it is on record from the call on, and not from a later
 * turn on: whatever ends it after that call ends it for that call, too.
 */
export class Life {
  /** Resolves when it runs; rejects when it does not, and everything is closed again. */
  readonly supervisor: Promise<Supervisor>;
  readonly #made: Supervisor;
  /** Of the call that began it. */
  readonly #signal: AbortSignal | undefined;
  /** Gives it up whoever waits for it. */
  readonly #over = new AbortController();
  /** What has to be closed before this one may open anything. */
  #former: Life | undefined;
  #ran = false;

  constructor(made: Supervisor, signal: AbortSignal | undefined, former: Life | undefined) {
    this.#made = made;
    this.#signal = signal;
    this.#former = former;
    const over = this.#over.signal;
    this.supervisor = this.#begin(signal === undefined ? over : AbortSignal.any([signal, over]));
  }

  /** What stands in the place of this one when it has not come about. */
  get former(): Life | undefined {
    return this.#former;
  }

  /** Whether the call that began it has given it up before it ran. That says nothing to those who joined it. */
  get isGivenUp(): boolean {
    return !this.#ran && this.#signal?.aborted === true && !this.#over.signal.aborted;
  }

  /** Whether it was ended after it was begun. A start that failed by itself was not. */
  get wasEnded(): boolean {
    return this.#over.signal.aborted || (this.#ran && this.#made.ending.aborted);
  }

  /** Whether there is nothing any more to join. */
  get isOver(): boolean {
    return this.isGivenUp || this.wasEnded || this.#made.ending.aborted;
  }

  /** Starts it again when it was stopped. */
  async join(signal: AbortSignal | undefined): Promise<Supervisor> {
    if (!this.#ran) return orAborted(this.supervisor, signal);
    await orAborted(this.#made.start(signal), this.#over.signal);
    return this.#made;
  }

  /** Ends it at once: a start that is under way is given up, and what runs is shut down. */
  end(reason: unknown): void {
    this.#over.abort(reason);
    this.#made.shutdown().catch(() => {}); // Told to those who wait for it.
  }

  /** Resolves with its supervisor when everything is closed. */
  async closed(): Promise<Supervisor> {
    await this.supervisor.catch((error: unknown) => {
      if (error !== this.#over.signal.reason && error !== this.#signal?.reason) throw error;
    });
    await this.#made.shutdown();
    return this.#made;
  }

  async #begin(given: AbortSignal): Promise<Supervisor> {
    try {
      if (this.#former !== undefined) await this.#outlive(this.#former, given);
      await this.#made.start(given);
      this.#ran = true;
      return this.#made;
    } catch (error) {
      const [shut] = await Promise.allSettled([this.#made.shutdown()]);
      if (shut.status === "rejected") {
        const message = "the bridge did not start, and did not close what it had opened";
        throw new AggregateError([error, shut.reason], message, { cause: error });
      }
      throw error;
    }
  }

  async #outlive(former: Life, given: AbortSignal): Promise<void> {
    await orAborted(former.closedAnyhow(), given).catch((error: unknown) => {
      given.throwIfAborted();
      const message = `the bridge cannot start anew: it did not close before: ${(error as Error).message}`;
      throw new OperationError("conflict", message, { cause: error });
    });
    this.#former = undefined;
  }

  /** Like {@link closed}, whatever kept it from running. */
  async closedAnyhow(): Promise<void> {
    await this.supervisor.catch(() => {});
    await this.#made.shutdown();
  }
}
