import type { BridgeError, Clock, DeadLetter, Delivery, Envelope, Span } from "@bridge/ports";
import type { Placed } from "@bridge/ports/internal";
import type { Origin } from "../accounting/leg-account.ts";
import type { PauseSwitch } from "../control/pause-switch.ts";
import type { Term } from "../lease/term.ts";
import { stopped } from "../stopped.ts";
import type { TappedLeg } from "../tap/tap.ts";
import type { Target } from "./route-parts.ts";

/** Where a message is on its way to. */
export type WorkTarget = Pick<Target, "bindingId">;

const NOWHERE: readonly WorkTarget[] = [];

/** One delivery on its way through a route, from the moment it takes a slot until it is settled or abandoned. */
export class Work implements Placed {
  readonly delivery: Delivery;
  readonly origin: Origin;
  /** A redrive goes to this binding only, past the resolver. */
  readonly onlyBinding: string | undefined;
  /** The dead letter that it redrives. */
  readonly entry: Pick<DeadLetter, "id" | "failedAt"> | undefined;
  /** Of a redrive: told each time that it has failed and its dead letter took no mark. */
  readonly unmarked: ((failure: BridgeError) => void) | undefined;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** What it came under: after that has ended nothing may be done for it. Absent unless its source is exclusive. */
  readonly term: Term | undefined;
  /** From its beginning to its settlement; absent unless the bridge traces. */
  readonly span: Span | undefined;
  /** As it was received: what a dead letter keeps. */
  readonly received: Envelope;
  /** As the processors left it: what is sent. */
  envelope: Envelope;
  /** Resolves when it is settled or abandoned; set as soon as it is in flight. */
  ended: Promise<unknown> | undefined;
  place = 0;
  /** Whether a target or a store was given any of it, so that nobody knows what became of it when it is given up. */
  handedOut = false;
  /** How legs of it have ended, as long as somebody looks at the route. */
  legs: TappedLeg[] | undefined;
  /** Where it is being sent; of several those that have not ended. */
  targets: readonly WorkTarget[] = NOWHERE;
  /** Sends tried here. */
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

  /** Whether the source, the operator, a stop or a lost lease has taken the work back. */
  get cancelled(): boolean {
    return this.#cancelled || this.term?.live === false;
  }

  /** Aborts on {@link cancel}. Made when first asked for: most deliveries never wait for anything but their send. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.cancelled) this.#controller.abort(stopped());
    return this.#controller.signal;
  }

  /** Something was waited for, so that {@link now} has to look at the clock. */
  waited(): void {
    this.#waited = true;
  }

  /** Whether it may be given up without a trace once nobody waits for its answer: it has waited, and nothing of it was handed out. */
  get unbegun(): boolean {
    return this.#waited && !this.handedOut;
  }

  /** Monotonic milliseconds: of its start as long as nothing was waited for, because each look at a clock costs. */
  now(clock: Clock): number {
    return this.#waited ? clock.monotonic() : this.startedAt;
  }

  cancel(): void {
    this.#cancelled = true;
    this.#controller?.abort(stopped());
    this.#giveUp?.(cancelledError());
  }

  /**
   * `promise`, or a rejection when the work is cancelled first. For one thing at a time, and without a signal, which every
   * delivery of a source that answers would pay for.
   */
  until(promise: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      promise.then(resolve, reject);
      this.#giveUp = reject;
      if (this.cancelled) reject(cancelledError());
    });
  }

  /** Whether a leg of it waits for a paused route to be resumed, which a stop need not wait for. */
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
