import { BridgeError, type Clock, type Envelope, type Sender } from "@bridge/ports";
import { Bag, isThenable, type Placed } from "@bridge/ports/internal";
import type { LegAccount } from "../accounting/leg-account.ts";
import type { Strays } from "./strays.ts";
import { veiledError } from "./veiled-error.ts";
import { withoutAddress } from "./without-address.ts";

/** The reason of a send that nobody awaits any more. Never classified: cancellation settles nothing. */
export class Cancelled extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "Cancelled" });
  }
}

/** Where a send goes, and where its duration is recorded. */
export interface SendTarget {
  readonly sender: Sender;
  readonly account: Pick<LegAccount, "accepted" | "failed">;
  /** Whether the address must be hidden. */
  readonly hidesAddress?: boolean;
  /** Removes other secrets from errors. */
  readonly veil?: ((text: string) => string) | undefined;
  /** Tracks sends that were given up and have not ended. */
  readonly strays?: Strays;
}

/** Placeholder for a guard without a waiter. */
const nobody = (): void => {};

/** One send in progress: its signal, its deadline, and the way to give it up whatever the sender does. */
class Guard implements Placed {
  readonly controller = new AbortController();
  readonly accepted: () => void;
  readonly failed: (error: unknown) => void;
  place = 0;
  /** The guard itself while idle, so that it keeps no message alive. */
  owner: object = this;
  target: SendTarget;
  address: string;
  /** Monotonic milliseconds. */
  startedAt = 0;
  deadline = 0;
  /** Of the sender's caller. */
  resolve: () => void = nobody;
  reject: (reason: unknown) => void = nobody;

  constructor(
    target: SendTarget,
    address: string,
    accepted: (guard: Guard) => void,
    failed: (guard: Guard, error: unknown) => void,
  ) {
    this.target = target;
    this.address = address;
    this.accepted = () => accepted(this);
    this.failed = (error) => failed(this, error);
  }

  readonly promised = (resolve: () => void, reject: (reason: unknown) => void): void => {
    this.resolve = resolve;
    this.reject = reject;
  };
}

/**
 * Bounds every send of a route by `send_timeout` and by cancellation, even if the sender ignores its signal. One timer
 * sweeps all sends, and guards are reused with their signals and callbacks: a timer and a controller per message would
 * cost more than the rest of the engine.
 */
export class SendGuards implements Disposable {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #active = new Bag<Guard>();
  readonly #idle: Guard[] = [];
  readonly #sweepMs: number;
  /** Present while sends are open, and until the next sweep: an idle route wakes nothing. */
  #sweeper: Disposable | undefined;
  /**
   * When a target last accepted, in monotonic milliseconds. A caller that awaited the acceptance can use it in the same
   * turn, which saves another look at the clock.
   */
  acceptedAt = 0;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#sweepMs = Math.max(5, Math.min(250, timeoutMs / 10));
  }

  /**
   * Sends on behalf of `owner` and records the duration. `startedAt`: now, in monotonic milliseconds. `attempt`: the
   * attempt's number. Rejects with `TIMEOUT` at the deadline, or with {@link Cancelled} when cancelled, whose duration
   * is not recorded.
   */
  send(
    target: SendTarget,
    envelope: Envelope,
    address: string,
    owner: object,
    attempt = 1,
    startedAt = this.#clock.monotonic(),
  ): Promise<void> {
    const guard = this.#idle.pop() ?? new Guard(target, address, this.#accepted, this.#failed);
    guard.owner = owner;
    guard.target = target;
    guard.address = address;
    guard.startedAt = startedAt;
    guard.deadline = startedAt + this.#timeoutMs;
    this.#active.add(guard);
    this.#sweeper ??= this.#clock.every(this.#sweepMs, () => this.#sweep());
    const sent = new Promise<void>(guard.promised);
    const under = start(target.sender, envelope, address, guard.controller.signal, attempt);
    under.then(guard.accepted, guard.failed);
    return sent;
  }

  /** Gives up every send of `owner`. */
  cancel(owner: object): void {
    for (const guard of this.#active) if (guard.owner === owner) this.#giveUp(guard, new Cancelled("cancelled"));
  }

  [Symbol.dispose](): void {
    this.#rest();
    for (const guard of this.#active) this.#giveUp(guard, new Cancelled("stopped"));
  }

  readonly #accepted = (guard: Guard): void => {
    if (!this.#active.delete(guard)) return guard.target.strays?.ended();
    this.acceptedAt = this.#clock.monotonic();
    guard.target.account.accepted.observe(this.acceptedAt - guard.startedAt);
    guard.resolve();
    this.#reuse(guard);
  };

  readonly #failed = (guard: Guard, error: unknown): void => {
    if (!this.#active.delete(guard)) return guard.target.strays?.ended();
    guard.target.account.failed.observe(this.#clock.monotonic() - guard.startedAt);
    // Never nothing, which would look like an acceptance.
    const thrown = error ?? new Error("the sender rejected with nothing");
    guard.reject(hidden(thrown, guard.target, guard.address));
    this.#reuse(guard);
  };

  /** After a standstill, timers come due before waiting answers have been read: reads those first. */
  #sweep(): void {
    if (this.#active.size === 0) return this.#rest();
    const now = this.#clock.monotonic();
    for (const { deadline } of this.#active) if (deadline <= now) return this.#clock.turn(() => this.#giveUpLate(now));
  }

  #giveUpLate(now: number): void {
    for (const guard of this.#active) {
      if (guard.deadline > now) continue;
      guard.target.account.failed.observe(now - guard.startedAt);
      this.#giveUp(guard, new BridgeError("TIMEOUT", `the target did not answer within ${this.#timeoutMs} ms`));
    }
  }

  #rest(): void {
    this.#sweeper?.[Symbol.dispose]();
    this.#sweeper = undefined;
  }

  #giveUp(guard: Guard, reason: Error): void {
    // Its signal is spent, so the guard is not used again; whatever the sender still says is not heard.
    this.#active.delete(guard);
    guard.target.strays?.add();
    guard.reject(reason);
    guard.controller.abort(reason);
  }

  #reuse(guard: Guard): void {
    guard.owner = guard;
    guard.resolve = nobody;
    guard.reject = nobody;
    this.#idle.push(guard);
  }
}

function hidden(error: unknown, { hidesAddress, veil }: SendTarget, address: string): unknown {
  const first = hidesAddress === true ? withoutAddress(error, address) : error;
  return veil === undefined ? first : veiledError(first, veil);
}

/**
 * A sender that throws synchronously has failed like one that rejects, and so has one that returns no promise. Any
 * promise that it returns settles the send once.
 */
function start(
  sender: Sender,
  envelope: Envelope,
  address: string,
  signal: AbortSignal,
  attempt: number,
): Promise<unknown> {
  try {
    const sent: unknown = sender.send(envelope, address, signal, attempt);
    if (isThenable(sent)) return Promise.resolve(sent);
    throw new Error("the sender did not return a promise");
  } catch (error) {
    return Promise.reject(error);
  }
}
