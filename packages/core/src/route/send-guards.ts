import { BridgeError, type Clock, type Envelope, type Sender } from "@bridge/ports";
import { Bag, type Placed } from "./bag.ts";

/** Why a send that nobody waits for any more was given up. Never classified: cancellation settles nothing. */
export class Cancelled extends Error {
  static {
    Object.defineProperty(this.prototype, "name", { value: "Cancelled" });
  }
}

/** One send in progress: its signal, its deadline, and the way to give it up whatever the sender does. */
class Guard implements Placed {
  readonly controller = new AbortController();
  place = -1;
  owner: object | undefined;
  /** Monotonic milliseconds. */
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

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#sweeper = clock.every(Math.max(5, Math.min(250, timeoutMs / 10)), () => this.#sweep());
  }

  /** Sends on behalf of `owner`. Rejects with `TIMEOUT` at the deadline, and with {@link Cancelled} when cancelled. */
  send(sender: Sender, envelope: Envelope, address: string, owner: object): Promise<void> {
    const guard = this.#idle.pop() ?? new Guard();
    guard.owner = owner;
    guard.deadline = this.#clock.monotonic() + this.#timeoutMs;
    this.#active.add(guard);
    return new Promise((resolve, reject) => {
      guard.giveUp = reject;
      start(sender, envelope, address, guard.controller.signal).then(
        () => {
          this.#finish(guard);
          resolve();
        },
        (error: unknown) => {
          this.#finish(guard);
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
      this.#giveUp(guard, new BridgeError("TIMEOUT", `the target did not answer within ${this.#timeoutMs} ms`));
    }
  }

  #giveUp(guard: Guard, reason: Error): void {
    // Its signal is spent, so the guard is not used again; whatever the sender still says is not heard.
    this.#active.delete(guard);
    guard.giveUp?.(reason);
    guard.controller.abort(reason);
  }

  #finish(guard: Guard): void {
    if (!this.#active.delete(guard)) return;
    guard.owner = undefined;
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
