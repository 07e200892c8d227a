import type { BackoffPolicy, RoutePolicy } from "@bridge/config";
import type { RouteControl } from "../control/controls.ts";
import { Slots } from "./slots.ts";

/** What a delivery needs before a route begins with it: a slot, no pause, and leave by the rate limit. */
export class Admission {
  /** How long a source that is lost is left alone. */
  readonly backoff: BackoffPolicy;
  readonly #control: RouteControl;
  readonly #slots: Slots;

  constructor({ backoff, maxInFlight }: RoutePolicy, control: RouteControl) {
    this.backoff = backoff;
    this.#control = control;
    this.#slots = new Slots(maxInFlight);
  }

  /** Whether a delivery is welcome: {@link room} would resolve at once. */
  get hasRoom(): boolean {
    return this.#slots.hasRoom && !this.#control.pause.paused;
  }

  /** Resolves when a delivery is welcome; rejects with the signal's reason when that comes first. */
  async room(signal: AbortSignal): Promise<void> {
    await this.#slots.room(signal);
    await this.#control.pause.whenResumed(signal);
    signal.throwIfAborted();
  }

  /**
   * Takes a slot for a delivery that has come: `true` when it is taken, `false` when `signal` aborted first. One that
   * came with a pause waits, unsettled, like one that is over the rate.
   */
  admit(signal: AbortSignal): true | Promise<boolean> {
    if (this.#control.pause.paused || !this.#slots.tryTake()) return this.#admitLater(signal);
    const turn = this.#control.rate.take(signal);
    return turn === undefined ? true : this.#inTurn(turn, signal);
  }

  /** Waits for a slot and takes it, for what an operator puts in; rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<void> {
    return this.#slots.take(signal);
  }

  /** Gives a slot back. */
  release(): void {
    this.#slots.release();
  }

  async #admitLater(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#slots.take(signal);
    } catch {
      return false;
    }
    await this.#control.pause.whenResumed(signal);
    return this.#inTurn(this.#control.rate.take(signal), signal);
  }

  async #inTurn(turn: Promise<void> | undefined, signal: AbortSignal): Promise<boolean> {
    const had = await Promise.resolve(turn).then(
      () => !signal.aborted,
      () => false,
    );
    if (!had) this.#slots.release();
    return had;
  }
}
