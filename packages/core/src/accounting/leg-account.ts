import type { BridgeError, OutboxStatus } from "@bridge/ports";
import { type Disposition, DISPOSITIONS, type LegStats } from "../view/stats.ts";
import { SEND_BOUNDS_MS, STAY_BOUNDS_MS } from "./duration-bounds.ts";
import { Histogram, type HistogramStats } from "./histogram.ts";
import { UnansweredWrites } from "./unanswered-writes.ts";

/** Where a message came from, for the accounts. */
export type Origin = "received" | "injected";

/** An outbox that does not answer lends no more than its limit holds, and only a few at a time. */
const MAX_DOUBTED = 10_000;

/** Why an attempt failed, and when. */
export interface LastFailure {
  readonly code: string;
  readonly error: string;
  /** Monotonic milliseconds. */
  readonly at: number;
  /** How much had been delivered by then. */
  readonly delivered: number;
}

/** The running account of one route and binding. Plain numbers, because every message writes to it. */
export class LegAccount {
  readonly routeId: string;
  readonly bindingId: string;
  received = 0;
  injected = 0;
  attempts = 0;
  inFlight = 0;
  /**
   * Records that the outbox held when its store was opened or, in a shared one, that another process persisted and that
   * ended here.
   */
  recovered = 0;
  inOutbox = 0;
  /** Records being delivered here, including those in other processes' accounts. */
  onLoan = 0;
  /** Attempts that failed other than by a timeout, and attempts that timed out. */
  refused = 0;
  unanswered = 0;
  failure: LastFailure | undefined;
  #endedElsewhere = 0;
  /** Durations of sends that the target accepted, and of those that failed. */
  readonly accepted = new Histogram(SEND_BOUNDS_MS);
  readonly failed = new Histogram(SEND_BOUNDS_MS);
  /** From the receipt of a message until the target accepted it. */
  readonly endToEnd = new Histogram(STAY_BOUNDS_MS);
  /** How long records had been in the outbox when the target accepted them. */
  readonly outboxAge = new Histogram(STAY_BOUNDS_MS);
  /** Records that this process persisted in a shared outbox and has not seen end, oldest first. */
  readonly #own = new Set<string>();
  readonly #unanswered = new UnansweredWrites();
  /** Ends that the outbox was told but has not confirmed, oldest first; only of an outbox that is not shared. */
  readonly #doubted = new Map<string, Disposition>();
  /** Records that operators have moved while some were being delivered here. */
  readonly #moved = new Set<string>();
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

  /** A leg begins. */
  open(origin: Origin): void {
    this[origin]++;
    this.inFlight++;
  }

  /**
   * A leg ends, in exactly one way. If it was being written to the outbox as `recordId`, its record may have been
   * drained already; then the leg has ended with that.
   */
  close(disposition: Disposition, recordId?: string): void {
    if (recordId !== undefined && this.#unanswered.closed(recordId)) return;
    this.#closed[disposition]++;
    this.inFlight--;
  }

  /** How many legs have ended for good. */
  get ended(): number {
    const { delivered, duplicate, dead_lettered, dropped, filtered, expired } = this.#closed;
    return delivered + duplicate + dead_lettered + dropped + filtered + expired + this.#endedElsewhere;
  }

  /** Counts a failed attempt; `now` in monotonic milliseconds. A message that is expired or filtered has not failed. */
  fail(error: BridgeError, now: number, delivered = this.accepted.count): void {
    if (error.class === "expired" || error.class === "filtered") return;
    if (error.code === "TIMEOUT") this.unanswered++;
    else this.refused++;
    this.failure = { code: error.code, error: error.message, at: now, delivered };
  }

  /** The ids given to {@link persist} whose records have not ended. */
  get own(): ReadonlySet<string> {
    return this.#own;
  }

  /** A write of its record begins. The record may be drained before the answer comes, if it ever does. */
  writes(recordId: string): void {
    this.#unanswered.begin(recordId);
  }

  /**
   * The write is answered: the record was persisted, now (`anew`) or by an earlier try, and will leave the outbox in
   * exactly one way. Returns false if it has left already. `shared`: other processes drain the outbox too.
   */
  persist(recordId: string, anew: boolean, shared: boolean): boolean {
    if (this.#moved.size > 0) this.#moved.delete(recordId);
    const where = this.#unanswered.persisted(recordId, anew);
    if (where === "out") return false;
    if (where === "again") this.recover(1);
    else {
      this.inFlight--;
      this.inOutbox++;
    }
    if (shared) this.#own.add(recordId);
    return true;
  }

  /** The leg is given up before a write of it was answered. */
  leave(recordId: string, shared: boolean): void {
    this.#unanswered.left(recordId, shared);
  }

  /**
   * A record leaves the outbox. Returns whether these accounts counted it towards the outbox's depth. If its write is
   * not answered yet, the write still counts for it; a record unknown here is recovered first. `shared`: other
   * processes drain the outbox too.
   */
  drain(disposition: Disposition, recordId: string, shared: boolean): boolean {
    const whose = this.#unanswered.drained(recordId);
    if (this.#doubted.size > 0) this.#doubted.delete(recordId);
    this.#closed[disposition]++;
    if (whose === "leg") {
      this.inFlight--;
      return false;
    }
    const own = shared ? this.#own.delete(recordId) : whose === undefined;
    if (!own) this.recover(1);
    this.inOutbox--;
    return own;
  }

  /** The same, by an operator who moves it. */
  move(as: Disposition, recordId: string, shared: boolean): boolean {
    if (this.onLoan === 0) this.#moved.clear();
    else if (this.#moved.size < MAX_DOUBTED) this.#moved.add(recordId);
    return this.drain(as, recordId, shared);
  }

  /** Whether an operator may have moved it while it was being delivered here, on a loan that had lapsed. */
  hasMoved(recordId: string): boolean {
    return this.#moved.has(recordId);
  }

  /** An outbox that is not shared was told this end, and has not confirmed it. */
  doubt(recordId: string, disposition: Disposition): void {
    if (this.#doubted.size < MAX_DOUBTED) this.#doubted.set(recordId, disposition);
  }

  /** The ids given to {@link doubt} whose records are still in the accounts. */
  get doubted(): Iterable<string> {
    return this.#doubted.keys();
  }

  /** Whether some of its records may end without notice here. */
  get mayEndUnseen(): boolean {
    return this.#own.size > 0 || this.#doubted.size > 0;
  }

  /** The outbox has confirmed: the record is finished, or forgotten since. Returns whether it was in these accounts. */
  doubtOver(recordId: string, status: Exclude<OutboxStatus, "pending"> | undefined): boolean {
    const said = this.#doubted.get(recordId);
    if (said === undefined) return false;
    // If the status differs from the doubted end, another end was recorded.
    if (status === "done") return this.drain("delivered", recordId, false);
    return this.drain(status === "dead" && said === "delivered" ? "dead_lettered" : said, recordId, false);
  }

  /** Another process has ended the record, and has it in its accounts. */
  endedElsewhere(sharedId: string): boolean {
    if (!this.#own.has(sharedId)) return false;
    this.#endedElsewhere++;
    return this.drain("abandoned", sharedId, true);
  }

  recover(count: number): void {
    this.recovered += count;
    this.inOutbox += count;
  }

  /** The outbox was closed, with everything in it. */
  outboxClosed(): void {
    this.#closed.abandoned += this.inOutbox;
    this.inOutbox = 0;
    this.#own.clear();
    this.#unanswered.forgetLeft();
    this.#doubted.clear();
  }

  /** Whether none of it can change any more once its route is gone. */
  get atRest(): boolean {
    return this.inFlight === 0 && this.inOutbox === 0;
  }

  /** Adds another account's counts. */
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
    return new LegReading(this, { ...this.#closed });
  }
}

/** The counters of one moment, so that they add up. Histograms, which are the bulk, are read on access. */
class LegReading implements LegStats {
  readonly routeId: string;
  readonly bindingId: string;
  readonly received: number;
  readonly injected: number;
  readonly recovered: number;
  readonly attempts: number;
  readonly inFlight: number;
  readonly inOutbox: number;
  readonly dispositions: Readonly<Record<Disposition, number>>;
  readonly #account: LegAccount;

  constructor(account: LegAccount, dispositions: Readonly<Record<Disposition, number>>) {
    this.routeId = account.routeId;
    this.bindingId = account.bindingId;
    this.received = account.received;
    this.injected = account.injected;
    this.recovered = account.recovered;
    this.attempts = account.attempts;
    this.inFlight = account.inFlight;
    this.inOutbox = account.inOutbox;
    this.dispositions = dispositions;
    this.#account = account;
  }

  get sends(): LegStats["sends"] {
    const { accepted, failed } = this.#account;
    return { accepted: accepted.read(), failed: failed.read() };
  }

  get endToEnd(): HistogramStats {
    return this.#account.endToEnd.read();
  }

  get outboxAge(): HistogramStats {
    return this.#account.outboxAge.read();
  }
}

/** What came in and is neither finished, in flight nor in the outbox: 0 unless the engine has a bug. */
export function unaccounted(legs: readonly LegStats[]): number {
  let open = 0;
  for (const leg of legs) {
    open += leg.received + leg.injected + leg.recovered - leg.inFlight - leg.inOutbox;
    for (const disposition of DISPOSITIONS) open -= leg.dispositions[disposition];
  }
  return open;
}
