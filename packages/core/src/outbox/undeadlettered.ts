import type { BridgeError, Clock, OutboxStore } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { RecentIds } from "./recent-ids.ts";

/** How often, and for how many records at a time, the store is asked. */
const LOOK_MS = 1_000;
const ASKED = 50;
const STATUS_TIMEOUT_MS = 5_000;

/**
 * Records whose dead letter could not be written, each until it ends, here or elsewhere. That the DLQ takes others
 * meanwhile proves nothing: it may refuse one for its content.
 */
export class Undeadlettered {
  readonly #clock: Clock;
  readonly #waiting: RecentIds;
  #failure: BridgeError | undefined;
  #lookAt = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#waiting = new RecentIds(clock);
  }

  /** Why a dead letter could not be written; `undefined` while no record waits for one. */
  get failure(): BridgeError | undefined {
    return this.#waiting.some ? this.#failure : undefined;
  }

  /** The record's dead letter could not be written; it is tried again within `forMs`. */
  add(recordId: string, failure: BridgeError, forMs: number): void {
    this.#failure = failure;
    this.#waiting.add(recordId, forMs);
  }

  /** The record has ended. */
  delete(recordId: string): void {
    this.#waiting.delete(recordId);
  }

  /** Forgets records that a later loan ended, at another instance or here. Stops after a batch in which one still waits. */
  async forgetEnded(store: OutboxStore | undefined, signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    if (store === undefined || now < this.#lookAt || !this.#waiting.some) return;
    this.#lookAt = now + LOOK_MS;
    using bound = deadline(this.#clock, STATUS_TIMEOUT_MS, new Error("the outbox store did not answer"));
    const asking = AbortSignal.any([signal, bound.signal]);
    const ids = [...this.#waiting.ids];
    for (let start = 0; start < ids.length; start += ASKED) {
      const still = await Promise.all(
        ids.slice(start, start + ASKED).map(async (id) => {
          // A store that does not answer says nothing about the record.
          const status = await orAborted(store.status(id, asking), asking).catch(() => "pending" as const);
          if (status !== "pending") this.delete(id);
          return status === "pending";
        }),
      );
      if (still.includes(true)) return;
    }
  }
}
