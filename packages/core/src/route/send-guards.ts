import { Bag, BridgeError, type Clock, type Envelope, type Placed, type Sender } from "@bridge/ports";
import type { LegAccount } from "../accounting/leg-account.ts";

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
}

/** One send in progress: its signal, its deadline, and the way to give it up whatever the sender does. */
class Guard implements Placed {
  readonly controller = new AbortController();
  place = -1;
  owner: object | undefined;
  target: SendTarget | undefined;
  /** Monotonic milliseconds. */
  startedAt = 0;
  deadline = 0;
  giveUp: ((reason: Error) => void) | undefined;
}

/**
 * Bounds every send of a route by its `send_timeout` and by cancellation, also against a sender that ignores its
 * signal. One timer sweeps all sends, and signals are used again: a timer and a controller a message would cost more
 * than the rest of the engine.
 */
export class SendGuards implements Disposable {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #active = new Bag<Guard>();
  readonly #idle: Guard[] = [];
  readonly #sweeper: Disposable;
  /**
   * Monotonic milliseconds: when a target last accepted. For whoever waited for that, who hears of it in the same turn:
   * each further look at the clock would cost.
   */
  acceptedAt = 0;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#sweeper = clock.every(Math.max(5, Math.min(250, timeoutMs / 10)), () => this.#sweep());
  }

  /**
   * Sends on behalf of `owner`, and enters how long it took; `startedAt` is now, in monotonic milliseconds. Rejects with
   * `TIMEOUT` at the deadline, and with {@link Cancelled} when cancelled, of which nothing is entered.
   */
  send(
    target: SendTarget,
    envelope: Envelope,
    address: string,
    owner: object,
    startedAt = this.#clock.monotonic(),
  ): Promise<void> {
    const guard = this.#idle.pop() ?? new Guard();
    guard.owner = owner;
    guard.target = target;
    guard.startedAt = startedAt;
    guard.deadline = startedAt + this.#timeoutMs;
    this.#active.add(guard);
    return new Promise((resolve, reject) => {
      guard.giveUp = reject;
      start(target.sender, envelope, address, guard.controller.signal).then(
        () => {
          if (!this.#active.delete(guard)) return;
          this.acceptedAt = this.#clock.monotonic();
          target.account.accepted.observe(this.acceptedAt - guard.startedAt);
          this.#reuse(guard);
          resolve();
        },
        (error: unknown) => {
          if (!this.#active.delete(guard)) return;
          target.account.failed.observe(this.#clock.monotonic() - guard.startedAt);
          this.#reuse(guard);
          reject(error);
        },
      );
    });
  }

  /** Gives up every send of `owner`. */
  cancel(owner: object): void {
    for (const guard of this.#active) if (guard.owner === owner) this.#giveUp(guard, new Cancelled("cancelled"));
  }

  [Symbol.dispose](): void {
    this.#sweeper[Symbol.dispose]();
    for (const guard of this.#active) this.#giveUp(guard, new Cancelled("stopped"));
  }

  #sweep(): void {
    const now = this.#clock.monotonic();
    for (const guard of this.#active) {
      if (guard.deadline > now) continue;
      guard.target?.account.failed.observe(now - guard.startedAt);
      this.#giveUp(guard, new BridgeError("TIMEOUT", `the target did not answer within ${this.#timeoutMs} ms`));
    }
  }

  #giveUp(guard: Guard, reason: Error): void {
    // Its signal is spent, so the guard is not used again; whatever the sender still says is not heard.
    this.#active.delete(guard);
    guard.giveUp?.(reason);
    guard.controller.abort(reason);
  }

  #reuse(guard: Guard): void {
    guard.owner = undefined;
    guard.target = undefined;
    guard.giveUp = undefined;
    this.#idle.push(guard);
  }
}

/** A sender that throws at once has failed like one that rejects. */
function start(sender: Sender, envelope: Envelope, address: string, signal: AbortSignal): Promise<void> {
  try {
    return sender.send(envelope, address, signal);
  } catch (error) {
    return Promise.reject(error);
  }
}
