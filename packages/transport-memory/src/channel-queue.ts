import type { BridgeError, Clock, SourceMessage } from "@bridge/ports";
import { DueQueue } from "./due-queue.ts";
import { RingQueue } from "./ring-queue.ts";

/** A message in a channel, with what the channel remembers of it. */
export interface Held {
  readonly message: SourceMessage;
  readonly undecodable: BridgeError | undefined;
  /** How often it has been handed out. */
  receiveCount: number;
}

/** Somebody who found the queue empty and waits for a message. */
export interface Waiter {
  readonly clock: Clock;
  /** There is a message: take it. */
  wake(): void;
}

/**
 * The messages of a channel that nobody holds: those that are ready, and those that are not due yet.
 *
 * A timer runs only while somebody waits and nothing but delayed messages is there.
 */
export class ChannelQueue {
  readonly #ready = new RingQueue<Held>();
  readonly #delayed = new DueQueue<Held>();
  readonly #waiters = new Set<Waiter>();
  #alarm: { readonly due: number; readonly controller: AbortController } | undefined;

  get size(): number {
    return this.#ready.size + this.#delayed.size;
  }

  /** The messages that are ready, oldest first. */
  ready(): Iterable<Held> {
    return this.#ready;
  }

  /** Forgets the messages that are ready. */
  clear(): void {
    while (this.#ready.shift() !== undefined);
  }

  /** Adds at the end. */
  put(held: Held): void {
    this.#ready.push(held);
    if (this.#waiters.size > 0) this.#wake();
  }

  /** Puts messages back in front of the others, in their order. */
  putBack(batch: readonly Held[]): void {
    for (let i = batch.length - 1; i >= 0; i--) this.#ready.unshift(batch[i] as Held);
    this.#wake();
  }

  /** Adds at the end once `clock.monotonic()` has reached `due`. */
  putLater(held: Held, due: number): void {
    this.#delayed.push(held, due);
    this.#setAlarm();
  }

  take(clock: Clock): Held | undefined {
    if (this.#delayed.size > 0) this.#ripen(clock);
    return this.#ready.shift();
  }

  /** Registers a waiter, who is woken once, when there is something to take. */
  wait(waiter: Waiter): void {
    this.#waiters.add(waiter);
    this.#setAlarm();
  }

  stopWaiting(waiter: Waiter): void {
    if (this.#waiters.delete(waiter)) this.#setAlarm();
  }

  #wake(): void {
    for (const waiter of this.#waiters) {
      if (this.#ready.size === 0) break;
      this.#waiters.delete(waiter);
      waiter.wake();
    }
    this.#setAlarm();
  }

  #ripen(clock: Clock): void {
    const now = clock.monotonic();
    for (let held = this.#delayed.shiftDue(now); held !== undefined; held = this.#delayed.shiftDue(now)) {
      this.#ready.push(held);
    }
  }

  #setAlarm(): void {
    const [waiter] = this.#waiters;
    const due = waiter === undefined ? undefined : this.#delayed.nextDue;
    if (due === this.#alarm?.due) return;
    this.#alarm?.controller.abort();
    this.#alarm = undefined;
    if (waiter === undefined || due === undefined) return;
    const controller = new AbortController();
    this.#alarm = { due, controller };
    void this.#ring(waiter.clock, due, controller.signal);
  }

  async #ring(clock: Clock, due: number, signal: AbortSignal): Promise<void> {
    try {
      await clock.delay(Math.max(0, due - clock.monotonic()), signal);
    } catch {
      return;
    }
    if (signal.aborted) return;
    this.#alarm = undefined;
    this.#ripen(clock);
    this.#wake();
  }
}
