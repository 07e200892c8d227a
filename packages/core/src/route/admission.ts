import type { BackoffPolicy, RoutePolicy } from "@bridge/config";
import type { RouteControl } from "../control/controls.ts";
import type { Lease } from "../lease/lease.ts";
import { Slots } from "./slots.ts";

/** What a delivery needs before a route begins with it: a slot, no pause, and leave by the rate limit. */
export class Admission {
  /** How long a source that is lost is left alone. */
  readonly backoff: BackoffPolicy;
  /** How many slots there are. */
  readonly maxInFlight: number;
  readonly #control: RouteControl;
  readonly #leases: readonly Lease[];
  readonly #slots: Slots;

  /** `leases`: what is to be held before a delivery is welcome. */
  constructor({ backoff, maxInFlight }: RoutePolicy, control: RouteControl, leases: readonly Lease[]) {
    this.backoff = backoff;
    this.maxInFlight = maxInFlight;
    this.#control = control;
    this.#leases = leases;
    this.#slots = new Slots(maxInFlight);
  }

  /** Whether a delivery is welcome: {@link room} would resolve at once. */
  get hasRoom(): boolean {
    return this.#slots.hasRoom && !this.#control.pause.paused && this.#leased;
  }

  /** Resolves when a delivery is welcome; rejects with the signal's reason when that comes first. */
  async room(signal: AbortSignal): Promise<void> {
    await this.#slots.room(signal);
    await this.#control.pause.whenResumed(signal);
    for (const lease of this.#leases) await lease.whenHeld(signal);
    signal.throwIfAborted();
  }

  /**
   * Takes a slot for a delivery that has come: `true` when it is taken, `false` when `signal` aborted first, or `takenBack`. One that
   * came with a pause, or without a lease, waits, unsettled, like one that is over the rate. What its source takes back meanwhile
   * leaves its turn to the next: under more load than the rate lets through, all turns would go to callers that have given up.
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

  /** Waits for a slot and takes it, for what an operator puts in; rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<void> {
    return this.#slots.take(signal);
  }

  /** Takes back what was admitted, for which nothing is to be done: its turn is the next one's. */
  giveBack(): void {
    this.#slots.release();
    this.#control.rate.giveBack();
  }

  /** Gives a slot back. */
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
