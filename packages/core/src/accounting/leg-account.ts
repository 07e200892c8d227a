import { type Disposition, DISPOSITIONS, type LegStats } from "../view/stats.ts";
import { SEND_BOUNDS_MS, STAY_BOUNDS_MS } from "./duration-bounds.ts";
import { Histogram } from "./histogram.ts";

/** Where a message came from, for the accounts. */
export type Origin = "received" | "injected";

/** The running account of one route and binding. Plain numbers, because every message writes to it. */
export class LegAccount {
  readonly routeId: string;
  readonly bindingId: string;
  received = 0;
  injected = 0;
  attempts = 0;
  inFlight = 0;
  /** Found in the outbox when its store was opened, or, in one that is shared, ended here and persisted elsewhere. */
  recovered = 0;
  inOutbox = 0;
  /** How long sends took that the target accepted, and those that failed. */
  readonly accepted = new Histogram(SEND_BOUNDS_MS);
  readonly failed = new Histogram(SEND_BOUNDS_MS);
  /** From the receipt of a message until the target has accepted it. */
  readonly endToEnd = new Histogram(STAY_BOUNDS_MS);
  /** How long records had been in the outbox when the target accepted them. */
  readonly outboxAge = new Histogram(STAY_BOUNDS_MS);
  /** What this process has persisted in a shared outbox and not seen end, oldest first. */
  readonly #own = new Set<string>();
  readonly #closed: Record<Disposition, number> = {
    delivered: 0,
    dead_lettered: 0,
    dropped: 0,
    filtered: 0,
    expired: 0,
    duplicate: 0,
    released: 0,
    abandoned: 0,
  };

  constructor(routeId: string, bindingId: string) {
    this.routeId = routeId;
    this.bindingId = bindingId;
  }

  /** A leg comes in. */
  open(origin: Origin): void {
    this[origin]++;
    this.inFlight++;
  }

  /** It ends, in exactly one way. */
  close(disposition: Disposition): void {
    this.#closed[disposition]++;
    this.inFlight--;
  }

  /** Ids of {@link persist} that have not ended. */
  get own(): ReadonlySet<string> {
    return this.#own;
  }

  /**
   * It is durable in the outbox, and comes out of it in exactly one way. `sharedId` is its record's in an outbox that
   * other processes drain too.
   */
  persist(sharedId?: string): void {
    this.inFlight--;
    this.inOutbox++;
    if (sharedId !== undefined) this.#own.add(sharedId);
  }

  /** Returns whether it was in these books; else it comes into them with its end. */
  drain(disposition: Disposition, sharedId?: string): boolean {
    const own = sharedId === undefined || this.#own.delete(sharedId);
    if (!own) this.recover(1);
    this.#closed[disposition]++;
    this.inOutbox--;
    return own;
  }

  /** Another process has ended it, and has it in its books. */
  endedElsewhere(sharedId: string): boolean {
    return this.#own.has(sharedId) && this.drain("abandoned", sharedId);
  }

  recover(count: number): void {
    this.recovered += count;
    this.inOutbox += count;
  }

  /** Its outbox was closed, with what is in it. */
  outboxClosed(): void {
    this.#closed.abandoned += this.inOutbox;
    this.inOutbox = 0;
    this.#own.clear();
  }

  /** Whether nothing of it can change any more once its route is gone. */
  get atRest(): boolean {
    return this.inFlight === 0 && this.inOutbox === 0;
  }

  /** Adds what another one has counted. */
  add(other: LegAccount): void {
    this.received += other.received;
    this.injected += other.injected;
    this.attempts += other.attempts;
    this.recovered += other.recovered;
    this.accepted.add(other.accepted);
    this.failed.add(other.failed);
    this.endToEnd.add(other.endToEnd);
    this.outboxAge.add(other.outboxAge);
    for (const disposition of DISPOSITIONS) this.#closed[disposition] += other.#closed[disposition];
  }

  read(): LegStats {
    return {
      routeId: this.routeId,
      bindingId: this.bindingId,
      received: this.received,
      injected: this.injected,
      recovered: this.recovered,
      attempts: this.attempts,
      inFlight: this.inFlight,
      inOutbox: this.inOutbox,
      dispositions: { ...this.#closed },
      sends: { accepted: this.accepted.read(), failed: this.failed.read() },
      endToEnd: this.endToEnd.read(),
      outboxAge: this.outboxAge.read(),
    };
  }
}

/** What came in and is neither finished, nor in flight, nor in the outbox: 0 unless the engine has a bug. */
export function unaccounted(legs: readonly LegStats[]): number {
  let open = 0;
  for (const leg of legs) {
    open += leg.received + leg.injected + leg.recovered - leg.inFlight - leg.inOutbox;
    for (const disposition of DISPOSITIONS) open -= leg.dispositions[disposition];
  }
  return open;
}
