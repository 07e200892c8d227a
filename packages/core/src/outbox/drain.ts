import { BridgeError, type OutboxClaim, type OutboxStore } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import type { RoutePolicy } from "@bridge/config";
import { backoffDelay } from "../route/backoff.ts";
import { KeyedOrder } from "../route/keyed-order.ts";
import { refusal } from "../route/obstacle.ts";
import type { RouteParts, Target } from "../route/route-parts.ts";
import { Slots } from "../route/slots.ts";
import { ClaimEnds } from "./claim-ends.ts";
import { ClaimVerdicts } from "./claim-verdicts.ts";
import { Claiming, type Loans } from "./claiming.ts";
import { drainBudget } from "./drain-budget.ts";
import type { EntryFates } from "./entry-fates.ts";
import type { OutboxDepth } from "./outbox-depth.ts";
import { followOwnRecords } from "./own-records.ts";
import { RecentIds } from "./recent-ids.ts";
import type { RecordOutcome, RecordOutcomes } from "./record-outcomes.ts";
import { type Batch, RecordSender } from "./record-sender.ts";
import { stopped } from "../stopped.ts";

/** The most records per claim: more would only wait on loan. */
const MAX_BATCH = 500;
/** Under a rate limit, claims no more than can be sent in this time: the rest would only wait on loan. */
const RATED_CLAIM_MS = 1_000;
/** The share of a one-record batch's budget that its record may spend waiting for its turn; after that it goes back unsent. */
const WAITING_SHARE = 0.5;
/** How often to look when nothing wakes the drain; more often while records wait for a retry. */
const POLL_MS = { idle: 1_000, retrying: 100 } as const;

export interface DrainOptions {
  readonly parts: RouteParts;
  readonly target: Target;
  readonly store: () => OutboxStore | undefined;
  readonly depth: OutboxDepth;
  readonly outcomes: RecordOutcomes;
  readonly entries: EntryFates;
  /** Aborts when a stop no longer waits for stores. */
  readonly givenUp: AbortSignal;
}

/** Delivers the records of one route and binding: claims the due ones, sends them, and records how each ended. */
export class Drain implements Disposable {
  readonly name: string;
  readonly #options: DrainOptions;
  readonly #policy: RoutePolicy;
  readonly #claiming: Claiming;
  readonly #sender: RecordSender;
  readonly #verdicts: ClaimVerdicts;
  readonly #slots: Slots;
  readonly #order = new KeyedOrder();
  readonly #ends: ClaimEnds;
  readonly #retrying: RecentIds;
  /** Records on loan here; only of a shared store. */
  readonly #held = new Set<string>();
  #wake = Promise.withResolvers<void>();
  /** Aborts when no further send may begin. */
  readonly #quiescing = new AbortController();
  /** Aborts when the work is cancelled. */
  #work = new AbortController().signal;

  constructor(options: DrainOptions) {
    const { parts, target, store, entries, givenUp } = options;
    const leaving = this.#quiescing.signal;
    this.name = `outbox ${parts.config.id} → ${target.bindingId}`;
    this.#options = options;
    this.#policy = parts.config.policy;
    this.#claiming = new Claiming({ parts, target, store, onArrival: () => this.wake() });
    this.#verdicts = new ClaimVerdicts({ parts, target, entries, givenUp });
    this.#sender = new RecordSender({ parts, target, verdicts: this.#verdicts, leaving });
    this.#retrying = new RecentIds(parts.clock);
    this.#slots = new Slots(this.#policy.maxInFlight);
    this.#ends = new ClaimEnds(store, parts, { leg: target.account, leaving, givenUp });
  }

  /** The store that refuses a necessary read or write, in words; `undefined` while none does. */
  get obstacle(): string | undefined {
    const [unread, unended] = [this.#claiming.fault, this.#ends.fault];
    // What is wrong stands in the reason: a full disk lets nobody open what is only to be read, too.
    if (unread !== undefined) return `the outbox store hands out no records: ${unread.code}, ${unread.message}`;
    if (unended !== undefined)
      return `the outbox store does not take how records ended: ${unended.code}, ${unended.message}`;
    const { failure } = this.#verdicts.undeadlettered;
    return failure === undefined ? undefined : refusal("DLQ", failure);
  }

  get #leaving(): boolean {
    return this.#quiescing.signal.aborted;
  }

  /** A new record may be due. */
  wake(): void {
    this.#wake.resolve();
  }

  /** An operator ended the record; the next of its key may be sent. */
  left(recordId: string): void {
    this.#verdicts.undeadlettered.delete(recordId);
    this.#retrying.delete(recordId);
    this.wake();
  }

  /** Claims nothing more; resolves when everything claimed has ended, or `signal` aborts. */
  async quiesce(signal: AbortSignal): Promise<void> {
    this.#quiescing.abort(stopped());
    await orAborted(this.#slots.idle(), signal).catch(() => {});
  }

  /** Gives up every send; claimed records go back uncharged. */
  [Symbol.dispose](): void {
    this.#quiescing.abort(stopped());
    this.#sender[Symbol.dispose]();
  }

  /** Delivers until `signal` aborts, and then records the ends it still knows. Rejects only on a bug. */
  async run(signal: AbortSignal): Promise<void> {
    this.#claiming.hear(this.#options.store());
    const others = this.#followOthers(signal);
    try {
      await this.#deliverAll(signal);
    } finally {
      this.#claiming[Symbol.dispose]();
      await others[Symbol.asyncDispose]();
    }
  }

  /**
   * Removes from the accounts the records that other processes end, and those that may have ended without the store's
   * answer.
   */
  #followOthers(signal: AbortSignal): AsyncDisposable {
    const { parts, target, store, depth } = this.#options;
    const { clock, logger } = parts;
    return followOwnRecords({ store, account: target.account, depth, held: this.#held, clock, logger }, signal);
  }

  async #deliverAll(signal: AbortSignal): Promise<void> {
    const { target, parts } = this.#options;
    this.#work = signal;
    let failures = 0;
    const { pause } = parts.control;
    while (!signal.aborted && !this.#leaving) {
      const { link } = target;
      if (link !== undefined && !link.connected) {
        await orAborted(link.whenConnected, signal).catch(() => {});
        continue;
      }
      const term = link?.lease?.term;
      if (term?.lasts(this.#policy.sendTimeoutMs) === false) {
        await orAborted(term.whenRenewed, signal).catch(() => {});
        continue;
      }
      if (pause.paused) {
        await pause.whenResumed(signal);
        continue;
      }
      if (target.strays.full) {
        await target.strays.whenRoom(`binding ${target.bindingId}`, parts.logger, this.#stopping(signal));
        continue;
      }
      await this.#slots.room(signal).catch(() => {});
      const waitMs = drainBudget(1, this.#policy.sendTimeoutMs, parts.budgets()) * WAITING_SHARE;
      if (target.rate.within(waitMs) === 0) {
        await target.rate.whenWithin(waitMs, this.#stopping(signal)).catch(() => {});
        continue;
      }
      // Wait one turn: everything that ended in this turn has then freed its slots, and one claim serves them all.
      await new Promise<void>((resolve) => parts.clock.turn(resolve));
      if (signal.aborted || this.#leaving) break;
      const wake = (this.#wake = Promise.withResolvers());
      // The turns may all be taken by other routes of the same sender. Claim one record anyway: it waits in line with
      // theirs.
      const rated = Math.max(1, target.rate.within(Math.min(RATED_CLAIM_MS, waitMs)));
      const limit = Math.min(MAX_BATCH, this.#slots.free, rated);
      const loans = await this.#claiming.claim(limit, signal);
      if (BridgeError.is(loans)) {
        if (signal.aborted) break;
        const delayMs = backoffDelay(this.#policy.backoff, ++failures, () => parts.random.next());
        await parts.clock.delay(delayMs, signal).catch(() => {});
        continue;
      }
      failures = 0;
      this.#take(loans);
      await this.#verdicts.undeadlettered.forgetEnded(this.#options.store(), signal);
      if (loans.claims.length === 0) await this.#rest(wake.promise, signal);
    }
    await orAborted(this.#slots.idle(), signal).catch(() => {});
    if (signal.aborted) this[Symbol.dispose]();
    await this.#slots.idle();
  }

  #stopping(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#quiescing.signal]);
  }

  async #rest(woken: Promise<void>, signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const pause = this.#options.parts.clock.delay(
      this.#retrying.some ? POLL_MS.retrying : POLL_MS.idle,
      AbortSignal.any([signal, stop.signal]),
    );
    await Promise.race([woken, pause]).catch(() => {});
    stop.abort();
    await pause.catch(() => {});
  }

  #take({ claims, sendBy }: Loans): void {
    const { parts } = this.#options;
    const budgetMs = drainBudget(claims.length, this.#policy.sendTimeoutMs, parts.budgets());
    const batch: Batch = {
      deadline: Math.min(parts.clock.monotonic() + budgetMs, sendBy),
      blocked: new Set(),
    };
    for (const claim of claims) {
      this.#slots.tryTake();
      void this.#deliver(claim, batch);
    }
  }

  async #deliver(claim: OutboxClaim, batch: Batch): Promise<void> {
    const { id, orderingKey: key } = claim.record;
    // Only if needed: a set keyed by id costs more than everything else kept per record, because V8 internalises each
    // new key.
    const shared = this.#options.store()?.shared === true;
    if (shared) this.#held.add(id);
    const { account } = this.#options.target;
    account.onLoan++;
    const turn = key === undefined ? undefined : this.#order.enter(key);
    try {
      if (turn !== undefined) await turn.ready;
      const { end, outcome } = await this.#sender.send(claim, batch, this.#work);
      if (end.kind === "retry" && key !== undefined) batch.blocked.add(key);
      // Entered before the next of its key is sent, so that a crash repeats at most the last one.
      const entered = await this.#ends.enter({ id, token: claim.token, outcome: end });
      if (end.kind === "retry") this.#retrying.add(id, end.delayMs + POLL_MS.idle);
      else this.#retrying.delete(id);
      // The next of its key could not be claimed before.
      if (key !== undefined && end.kind !== "retry") this.wake();
      if (entered === true && end.kind === "done") await this.#verdicts.entered(claim.record);
      if (entered === true && outcome !== undefined) this.#settled(claim, outcome);
      // Of one that is shared whoever has persisted it looks it up.
      if (entered === undefined && outcome !== undefined && !shared)
        this.#options.target.account.doubt(id, outcome.disposition);
    } catch (thrown) {
      // The record is sent again once its loan lapses.
      this.#sender.surprised(claim.record, thrown);
    } finally {
      turn?.leave();
      if (shared) this.#held.delete(id);
      account.onLoan--;
      this.#slots.release();
    }
  }

  #settled({ record }: OutboxClaim, outcome: RecordOutcome): void {
    const { parts, target, store, depth, outcomes } = this.#options;
    const { id } = record.received ?? record.envelope;
    parts.recent.legs.add(target.recentPlace, id, outcome.disposition, parts.clock.monotonic());
    this.#verdicts.undeadlettered.delete(record.id);
    if (target.account.drain(outcome.disposition, record.id, store()?.shared === true)) depth.give(1);
    outcomes.ended(record.id, outcome);
  }
}
