import { type BridgeError } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";

/** A fault switch on one kind of call: the next calls fail, or all calls hang. Off unless somebody switches it. */
export class FaultGate {
  #failures = 0;
  #error: BridgeError | undefined;
  #hold: PromiseWithResolvers<void> | undefined;
  #held = 0;
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** How many calls hang at the moment. */
  get held(): number {
    return this.#held;
  }

  /** Lets the next `count` calls fail with `error`; `Infinity` lasts until {@link clear}. */
  failNext(count: number, error: BridgeError): void {
    this.#failures = count;
    this.#error = error;
  }

  /** Lets no further call fail. */
  clear(): void {
    this.#failures = 0;
  }

  /** Lets calls hang until they are aborted, or until the result is disposed: then they go on. */
  hold(): Disposable {
    const hold = Promise.withResolvers<void>();
    this.#hold?.resolve();
    this.#hold = hold;
    return {
      [Symbol.dispose]: () => {
        if (this.#hold === hold) this.#hold = undefined;
        hold.resolve();
      },
    };
  }

  /** Whether a call would fail or hang. */
  get active(): boolean {
    return this.#hold !== undefined || this.#failures > 0;
  }

  /** Resolves when the call may go on; rejects when it is to fail, or when one of `signals` aborts while it hangs. */
  async pass(...signals: AbortSignal[]): Promise<void> {
    if (this.#hold !== undefined) {
      this.#held++;
      this.#changed();
      try {
        await orAborted(this.#hold.promise, AbortSignal.any(signals));
      } finally {
        this.#held--;
        this.#changed();
      }
    }
    if (this.#failures > 0 && this.#error !== undefined) {
      this.#failures--;
      throw this.#error;
    }
  }
}
