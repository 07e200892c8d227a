import type { BridgeError, Clock, DeadLetter, Delivery, Envelope, Span } from "@bridge/ports";
import type { Placed } from "@bridge/ports/internal";
import type { Origin } from "../accounting/leg-account.ts";
import type { PauseSwitch } from "../control/pause-switch.ts";
import type { Term } from "../lease/term.ts";
import { stopped } from "../stopped.ts";
import type { TappedLeg } from "../tap/tap.ts";
import type { Target } from "./route-parts.ts";

/** Where a message is being sent. */
export type WorkTarget = Pick<Target, "bindingId">;

const NOWHERE: readonly WorkTarget[] = [];

/** One delivery in a route, from taking a slot until it is settled or abandoned. */
export class Work implements Placed {
  readonly delivery: Delivery;
  readonly origin: Origin;
  /** The only binding of a redrive, which skips the resolver. */
  readonly onlyBinding: string | undefined;
  /** The dead letter that this redrives. */
  readonly entry: Pick<DeadLetter, "id" | "failedAt"> | undefined;
  /** Of a redrive: called each time it has failed and its dead letter could not be marked. */
  readonly unmarked: ((failure: BridgeError) => void) | undefined;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** The lease term it arrived under: once that ends, nothing more may be done. Absent unless the source is exclusive. */
  readonly term: Term | undefined;
  /** From start to settlement; absent unless the bridge traces. */
  readonly span: Span | undefined;
  /** As it was received: what a dead letter keeps. */
  readonly received: Envelope;
  /** As the processors left it: what is sent. */
  envelope: Envelope;
  /** Resolves when it is settled or abandoned; set as soon as it is in flight. */
  ended: Promise<unknown> | undefined;
  place = 0;
  /** Whether a target or a store has been given any of it: if it is then given up, its outcome is unknown. */
  handedOut = false;
  /** How its legs ended; only while a tap watches the route. */
  legs: TappedLeg[] | undefined;
  /** Where it is being sent; with several targets, those whose legs have not ended. */
  targets: readonly WorkTarget[] = NOWHERE;
  /** Sends tried by this work. */
  sends = 0;
  #waited = false;
  #cancelled = false;
  #parked = 0;
  #controller: AbortController | undefined;
  #giveUp: ((reason: Error) => void) | undefined;

  constructor(options: {
    delivery: Delivery;
    envelope: Envelope;
    origin: Origin;
    startedAt: number;
    onlyBinding?: string | undefined;
    entry?: Work["entry"];
    unmarked?: Work["unmarked"];
    term?: Term | undefined;
    span?: Span | undefined;
  }) {
    this.delivery = options.delivery;
    this.origin = options.origin;
    this.onlyBinding = options.onlyBinding;
    this.entry = options.entry;
    this.unmarked = options.unmarked;
    this.term = options.term;
    this.span = options.span;
    this.startedAt = options.startedAt;
    this.received = options.envelope;
    this.envelope = options.envelope;
  }

  /** Whether the source, the operator, a stop or a lost lease has cancelled the work. */
  get cancelled(): boolean {
    return this.#cancelled || this.term?.live === false;
  }

  /** Aborts on {@link cancel}. Created on first use: most deliveries wait only for their send. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.cancelled) this.#controller.abort(stopped());
    return this.#controller.signal;
  }

  /** Records that the work has waited, so that {@link now} must read the clock. */
  waited(): void {
    this.#waited = true;
  }

  /** Whether it can be given up without a trace once its caller has left: it has waited, and nothing of it was handed out. */
  get unbegun(): boolean {
    return this.#waited && !this.handedOut;
  }

  /** Monotonic milliseconds; the start time until it has waited, because every clock read costs. */
  now(clock: Clock): number {
    return this.#waited ? clock.monotonic() : this.startedAt;
  }

  cancel(): void {
    this.#cancelled = true;
    this.#controller?.abort(stopped());
    this.#giveUp?.(cancelledError());
  }

  /**
   * Resolves with `promise`, or rejects when the work is cancelled first. For one wait at a time. Uses no signal, for
   * which every delivery of an asynchronous source would pay.
   */
  until(promise: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      promise.then(resolve, reject);
      this.#giveUp = reject;
      if (this.cancelled) reject(cancelledError());
    });
  }

  /** Whether one of its legs waits for a paused route to resume. A stop need not wait for that. */
  get parked(): boolean {
    return this.#parked > 0;
  }

  /** Waits until the route is resumed; cut short by {@link cancel}. */
  async park(pause: PauseSwitch): Promise<void> {
    this.#waited = true;
    this.#parked++;
    await pause.whenResumed(this.signal);
    this.#parked--;
  }

  /** Waits; cut short by {@link cancel}. */
  async pause(clock: Clock, ms: number): Promise<void> {
    this.#waited = true;
    await clock.delay(ms, this.signal).catch(() => {});
  }
}

function cancelledError(): Error {
  return new Error("the work was cancelled");
}
