import { BridgeError, type Clock } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";

/** What a job waits for at its store: for how long none of it has been taken, whether the store refuses it or says nothing. */
export class StoreWait {
  readonly #clock: Pick<Clock, "monotonic">;
  #pending = 0;
  /** Monotonic milliseconds: when the first call began of those that wait, or were in vain, since one was taken. */
  #since: number | undefined;
  #failure: BridgeError | undefined;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /**
   * Makes a call, which is given up when `signal` says so. `tells`: that it is answered says that others would be, too.
   */
  async for<Result>(signal: AbortSignal, call: () => Promise<Result>, tells = true): Promise<Result> {
    this.#since ??= this.#clock.monotonic();
    this.#pending++;
    let isTaken = false;
    try {
      const result = await orAborted(call(), signal);
      isTaken = true;
      return result;
    } catch (thrown) {
      this.failed(BridgeError.from(thrown));
      throw thrown;
    } finally {
      this.#pending--;
      if (isTaken && (tells || this.#failure === undefined)) this.took();
    }
  }

  /** Something was taken: what waits beside it is looked at from now on. */
  took(): void {
    this.#since = this.#pending > 0 ? this.#clock.monotonic() : undefined;
    this.#failure = undefined;
  }

  failed(failure: BridgeError): void {
    this.#since ??= this.#clock.monotonic();
    this.#failure = failure;
  }

  /** For how long nothing has been taken, in milliseconds; 0 when nothing waits. */
  get ms(): number {
    return this.#since === undefined ? 0 : this.#clock.monotonic() - this.#since;
  }

  /** What was said last of what was not taken; `undefined` when the last answer was a good one. */
  get failure(): BridgeError | undefined {
    return this.#failure;
  }
}
