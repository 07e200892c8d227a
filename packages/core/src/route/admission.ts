import type { BackoffPolicy, RoutePolicy } from "@bridge/config";
import type { RouteControl } from "../control/controls.ts";
import type { Lease } from "../lease/lease.ts";
import { Slots } from "./slots.ts";

/** Decides when a route may begin a delivery: it needs a free slot, no pause, the leases and a turn under the rate limit. */
export class Admission {
  /** The pauses before a lost source is asked again. */
  readonly backoff: BackoffPolicy;
  /** The number of slots. */
  readonly maxInFlight: number;
  readonly #control: RouteControl;
  readonly #leases: readonly Lease[];
  readonly #slots: Slots;

  /** `leases`: all of them must be held before a delivery is admitted. */
  constructor({ backoff, maxInFlight }: RoutePolicy, control: RouteControl, leases: readonly Lease[]) {
    this.backoff = backoff;
    this.maxInFlight = maxInFlight;
    this.#control = control;
    this.#leases = leases;
    this.#slots = new Slots(maxInFlight);
  }

  /** Whether {@link room} would resolve at once. */
  get hasRoom(): boolean {
    return this.#slots.hasRoom && !this.#control.pause.paused && this.#leased;
  }

  /** Resolves when a delivery can be admitted; rejects with the signal's reason if `signal` aborts first. */
  async room(signal: AbortSignal): Promise<void> {
    await this.#slots.room(signal);
    await this.#control.pause.whenResumed(signal);
    for (const lease of this.#leases) await lease.whenHeld(signal);
    signal.throwIfAborted();
  }

  /**
   * Takes a slot for a delivery that has arrived: `true` when taken, `false` when `signal` or `takenBack` aborted
   * first. A delivery that arrives during a pause or without a lease waits unsettled, like one above the rate. One that
   * its source takes back while it waits gives up its turn: otherwise, under more load than the rate allows, every turn
   * would go to a caller that has already given up.
   */
  admit(signal: AbortSignal, takenBack?: AbortSignal): true | Promise<boolean> {
    if (this.#control.pause.paused || !this.#leased || !this.#slots.tryTake())
      return this.#admitLater(either(signal, takenBack));
    const { rate } = this.#control;
    if (rate.unlimited) return true;
    const both = either(signal, takenBack);
    const turn = rate.take(both);
    return turn === undefined ? true : this.#inTurn(turn, both);
  }

  /** Waits for a slot and takes it, for a message that an operator injects. Rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<void> {
    return this.#slots.take(signal);
  }

  /** Undoes an admission that turned out to need no work: frees the slot and the turn. */
  giveBack(): void {
    this.#slots.release();
    this.#control.rate.giveBack();
  }

  release(): void {
    this.#slots.release();
  }

  get #leased(): boolean {
    for (const lease of this.#leases) if (!lease.held) return false;
    return true;
  }

  async #admitLater(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#slots.take(signal);
    } catch {
      return false;
    }
    await this.#control.pause.whenResumed(signal);
    for (const lease of this.#leases) await lease.whenHeld(signal).catch(() => {});
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

function either(signal: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other === undefined ? signal : AbortSignal.any([signal, other]);
}
