import type { BridgeError, Clock, OutboxStore } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { RecentIds } from "./recent-ids.ts";

/** How often others are asked for, and for how many at a time. */
const LOOK_MS = 1_000;
const ASKED = 50;
const STATUS_TIMEOUT_MS = 5_000;

/**
 * Records whose dead letter could not be written, each until it has ended, here or elsewhere. That the DLQ takes others
 * meanwhile says nothing: it may refuse one for what is in it.
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

  /** Why one could not be written, while records wait for that. */
  get failure(): BridgeError | undefined {
    return this.#waiting.some ? this.#failure : undefined;
  }

  /** Has failed, and is tried again within `forMs`. */
  add(recordId: string, failure: BridgeError, forMs: number): void {
    this.#failure = failure;
    this.#waiting.add(recordId, forMs);
  }

  /** Has ended. */
  delete(recordId: string): void {
    this.#waiting.delete(recordId);
  }

  /**
   * Whoever had a record on loan after us may have ended it, another instance or a later loan of our own: forgets those,
   * until it meets one that still waits.
   */
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
