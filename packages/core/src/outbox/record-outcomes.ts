import { type BridgeError, type Clock, type OutboxStatus, type OutboxStore } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";

/** How a record ended. */
export interface RecordOutcome {
  readonly disposition: "delivered" | "dead_lettered" | "dropped" | "expired" | "filtered";
  readonly error?: BridgeError | undefined;
  /** Whether another instance ended it; it is then unknown whether there is a dead letter. */
  readonly elsewhere?: boolean;
}

/** How often a record that another instance drains is looked up. */
const POLL_MS = 500;
/** A lookup without an answer by then is repeated. */
const STATUS_TIMEOUT_MS = 5_000;

/** Tells waiters how a record ended. Holds no more than there are waiters. */
export class RecordOutcomes {
  readonly #waiters = new Map<string, Set<(outcome: RecordOutcome) => void>>();

  /** How many records have waiters. */
  get size(): number {
    return this.#waiters.size;
  }

  ended(id: string, outcome: RecordOutcome): void {
    if (this.#waiters.size === 0) return;
    for (const waiter of this.#waiters.get(id) ?? []) waiter(outcome);
  }

  /**
   * Resolves when the record has ended, here or at another instance; `undefined` when the store has forgotten it.
   * Rejects with the signal's reason when that comes first.
   */
  async of(id: string, store: OutboxStore, clock: Clock, signal: AbortSignal): Promise<RecordOutcome | undefined> {
    const here = Promise.withResolvers<RecordOutcome>();
    const waiters = this.#waiters.get(id) ?? new Set();
    this.#waiters.set(id, waiters.add(here.resolve));
    const stop = new AbortController();
    try {
      const both = AbortSignal.any([signal, stop.signal]);
      return await orAborted(Promise.race([here.promise, poll(id, store, clock, both)]), signal);
    } finally {
      stop.abort();
      waiters.delete(here.resolve);
      if (waiters.size === 0) this.#waiters.delete(id);
    }
  }
}

async function poll(
  id: string,
  store: OutboxStore,
  clock: Clock,
  signal: AbortSignal,
): Promise<RecordOutcome | undefined> {
  for (;;) {
    const status = await statusOf(id, store, clock, signal);
    if (status === undefined) return undefined;
    if (status === "done") return { disposition: "delivered" };
    if (status === "dead") return { disposition: "dead_lettered", elsewhere: true };
    await clock.delay(POLL_MS, signal);
  }
}

/** A store that does not answer says nothing about the record, so it counts as pending. */
async function statusOf(
  id: string,
  store: OutboxStore,
  clock: Clock,
  signal: AbortSignal,
): Promise<OutboxStatus | undefined> {
  using bound = deadline(clock, STATUS_TIMEOUT_MS, new Error("the outbox store did not answer"));
  const asking = AbortSignal.any([signal, bound.signal]);
  return await orAborted(store.status(id, asking), asking).catch(() => "pending" as const);
}
