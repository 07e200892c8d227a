import { BridgeError, type Clock, type Envelope, type Sender } from "@bridge/ports";
import { Bag, isThenable, type Placed } from "@bridge/ports/internal";
import type { LegAccount } from "../accounting/leg-account.ts";
import type { Strays } from "./strays.ts";
import { veiledError } from "./veiled-error.ts";
import { withoutAddress } from "./without-address.ts";

/** Why a send that nobody waits for any more was given up. Never classified: cancellation settles nothing. */
export class Cancelled extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "Cancelled" });
  }
}

/** Where a send goes, and where its duration is entered. */
export interface SendTarget {
  readonly sender: Sender;
  readonly account: Pick<LegAccount, "accepted" | "failed">;
  /** Whether the address must not be seen. */
  readonly hidesAddress?: boolean;
  /** Takes out of errors what must not be seen besides. */
  readonly veil?: ((text: string) => string) | undefined;
  /** Hears of what was given up and goes on. */
  readonly strays?: Strays;
}

/** Hears of the end of a guard that nobody waits for. */
const nobody = (): void => {};

/** One send in progress: its signal, its deadline, and the way to give it up whatever the sender does. */
class Guard implements Placed {
  readonly controller = new AbortController();
  readonly accepted: () => void;
  readonly failed: (error: unknown) => void;
  place = 0;
  /** Itself while it is idle, so that it keeps no message. */
  owner: object = this;
  target: SendTarget;
  address: string;
  /** Monotonic milliseconds. */
  startedAt = 0;
  deadline = 0;
  /** Of the promise of whoever sends. */
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
 * Bounds every send of a route by its `send_timeout` and by cancellation, also against a sender that ignores its
 * signal. One timer sweeps all sends, and guards are used again, with their signals and callbacks: a timer and a
 * controller a message would cost more than the rest of the engine.
 */
export class SendGuards implements Disposable {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #active = new Bag<Guard>();
  readonly #idle: Guard[] = [];
  readonly #sweepMs: number;
  /** There while sends are open, and until the sweep after: a route that is idle wakes nobody. */
  #sweeper: Disposable | undefined;
  /**
   * Monotonic milliseconds: when a target last accepted. For whoever waited for that, who hears of it in the same turn:
   * each further look at the clock would cost.
   */
  acceptedAt = 0;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#sweepMs = Math.max(5, Math.min(250, timeoutMs / 10));
  }

  /**
   * Sends on behalf of `owner`, and enters how long it took; `startedAt` is now, in monotonic milliseconds, `attempt` which
   * attempt it is. Rejects with
   * `TIMEOUT` at the deadline, and with {@link Cancelled} when cancelled, of which nothing is entered.
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

  /** What has come while the process stood still is still unread when its timers are due: it is read first. */
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
 * A sender that throws at once has failed like one that rejects, and so has one that says nothing of the end. Whatever promise it
 * returns says so once.
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
