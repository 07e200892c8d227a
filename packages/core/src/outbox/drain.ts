import {
  BridgeError,
  deadline,
  orAborted,
  type OutboxClaim,
  type OutboxRecord,
  type OutboxStore,
  readTraceContext,
  type Span,
} from "@bridge/ports";
import { holds, type RoutePolicy } from "@bridge/config";
import { backoffDelay } from "../route/backoff.ts";
import { expiryOf } from "../route/expiry.ts";
import { Gates } from "../route/gates.ts";
import { KeyedOrder } from "../route/keyed-order.ts";
import { refusal } from "../route/obstacle.ts";
import type { RouteParts, Target } from "../route/route-parts.ts";
import { Cancelled, SendGuards } from "../route/send-guards.ts";
import { endSend } from "../route/send-outcome.ts";
import { Slots } from "../route/slots.ts";
import { sentWithContext } from "../trace/carry-context.ts";
import { ClaimEnds, FINISH_TIMEOUT_MS } from "./claim-ends.ts";
import { ClaimVerdicts, giveBack, type Verdict } from "./claim-verdicts.ts";
import { drainBudget } from "./drain-budget.ts";
import type { OutboxDepth } from "./outbox-depth.ts";
import { followOwnRecords } from "./own-records.ts";
import { RecentIds } from "./recent-ids.ts";
import type { RecordOutcome, RecordOutcomes } from "./record-outcomes.ts";
import { StandingFault } from "./standing-fault.ts";

/** The most records of one claim: more would only lie there. */
const MAX_BATCH = 500;
/** A loan outlives its batch by this much, so that what was sent at the last moment can still be entered. */
const LOAN_MARGIN_MS = 10_000;
/** With a rate limit, no more is claimed than can be sent in this time: the rest would lie there on loan. */
const RATED_CLAIM_MS = 1_000;
/** The safety net when nothing wakes the drain; sooner while records wait for a retry. */
const POLL_MS = { idle: 1_000, retrying: 100 } as const;
const CLAIM_TIMEOUT_MS = 30_000;

holds("the margin of a loan", LOAN_MARGIN_MS, { FINISH_TIMEOUT_MS });

export interface DrainOptions {
  readonly parts: RouteParts;
  readonly target: Target;
  readonly store: () => OutboxStore | undefined;
  readonly depth: OutboxDepth;
  readonly outcomes: RecordOutcomes;
  /** Aborts when a stop waits for stores no more. */
  readonly givenUp: AbortSignal;
}

/** Records that were lent together, until when they may be sent, and the keys whose head is to be tried again. */
interface Batch {
  /** Monotonic milliseconds. */
  readonly deadline: number;
  readonly blocked: Set<string>;
}

/** Delivers the records of one route and binding: claims what is due, sends it, and enters how each ended. */
export class Drain implements Disposable {
  readonly name: string;
  readonly #options: DrainOptions;
  readonly #policy: RoutePolicy;
  readonly #guards: SendGuards;
  readonly #gates: Gates;
  readonly #verdicts: ClaimVerdicts;
  readonly #slots: Slots;
  readonly #order = new KeyedOrder();
  readonly #ends: ClaimEnds;
  readonly #retrying: RecentIds;
  /** On loan here, of a store that others drain too. */
  readonly #held = new Set<string>();
  #wake = Promise.withResolvers<void>();
  /** Aborts when nothing more is to be sent that has not begun. */
  readonly #quiescing = new AbortController();
  /** Aborts when the work is cancelled. */
  #work = new AbortController().signal;
  readonly #unreadable: StandingFault;
  #hearing: OutboxStore | undefined;
  #arrivals: Disposable | undefined;

  constructor(options: DrainOptions) {
    const { parts, target, givenUp } = options;
    this.name = `outbox ${parts.config.id} → ${target.bindingId}`;
    this.#options = options;
    this.#policy = parts.config.policy;
    this.#guards = new SendGuards(parts.clock, this.#policy.sendTimeoutMs);
    this.#gates = new Gates(parts.processors, parts.surprises);
    this.#verdicts = new ClaimVerdicts(parts, target, givenUp);
    this.#unreadable = new StandingFault({
      ...parts,
      begins: "outbox not readable: tried again",
      ends: "outbox readable again",
    });
    this.#retrying = new RecentIds(parts.clock);
    this.#slots = new Slots(this.#policy.maxInFlight);
    this.#ends = new ClaimEnds(options.store, parts, { leaving: this.#quiescing.signal, givenUp });
  }

  /** The store that refuses what has to be read or written, in words; `undefined` while none does. */
  get obstacle(): string | undefined {
    if (this.#unreadable.lasts) return "the outbox store cannot be read";
    if (this.#ends.failing) return "the outbox store does not take how records ended";
    const { dlqFailure } = this.#verdicts;
    return dlqFailure === undefined ? undefined : refusal("DLQ", dlqFailure);
  }

  get #leaving(): boolean {
    return this.#quiescing.signal.aborted;
  }

  /** There is something new. */
  wake(): void {
    this.#wake.resolve();
  }

  /** A record was ended by an operator; the next of its key may be sent. */
  left(recordId: string): void {
    this.#verdicts.forget(recordId);
    this.#retrying.delete(recordId);
    this.wake();
  }

  /** Claims nothing more; resolves when what was claimed has ended, or `signal` aborts. */
  async quiesce(signal: AbortSignal): Promise<void> {
    this.#quiescing.abort();
    this.wake();
    await orAborted(this.#slots.idle(), signal).catch(() => {});
  }

  /** Gives up every send; what was claimed goes back uncharged. */
  [Symbol.dispose](): void {
    this.#quiescing.abort();
    this.#guards[Symbol.dispose]();
  }

  /** Delivers until `signal` aborts, and then enters what it still knows. Rejects for a bug only. */
  async run(signal: AbortSignal): Promise<void> {
    const opened = this.#options.store();
    if (opened !== undefined) this.#hear(opened);
    const others = this.#followOthers(signal);
    try {
      await this.#deliverAll(signal);
    } finally {
      this.#arrivals?.[Symbol.dispose]();
      await others[Symbol.asyncDispose]();
    }
  }

  /** What others end of one's own records leaves the books here. */
  #followOthers(signal: AbortSignal): AsyncDisposable {
    const { parts, target, store, depth } = this.#options;
    return followOwnRecords({ store, account: target.account, depth, held: this.#held, clock: parts.clock }, signal);
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
      // What ended in this turn of the event loop has freed its slots by then: one claim for all of them.
      await new Promise((resolve) => setImmediate(resolve));
      if (signal.aborted || this.#leaving) break;
      const wake = (this.#wake = Promise.withResolvers());
      const claims = await this.#claim(signal);
      if (BridgeError.is(claims)) {
        if (signal.aborted) break;
        const delayMs = backoffDelay(this.#policy.backoff, ++failures, () => parts.random.next());
        await parts.clock.delay(delayMs, signal).catch(() => {});
        continue;
      }
      failures = 0;
      this.#take(claims);
      if (claims.length === 0) await this.#rest(wake.promise, signal);
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

  async #claim(signal: AbortSignal): Promise<readonly OutboxClaim[] | BridgeError> {
    const { store, parts, target } = this.#options;
    const limit = Math.min(MAX_BATCH, this.#slots.free, target.rate.within(RATED_CLAIM_MS));
    const loanMs =
      drainBudget(limit, this.#policy.sendTimeoutMs, parts.budgets()) + this.#policy.sendTimeoutMs + LOAN_MARGIN_MS;
    using bound = deadline(CLAIM_TIMEOUT_MS, () => new BridgeError("TIMEOUT", "the outbox store did not answer"));
    const bounded = AbortSignal.any([signal, bound.signal]);
    try {
      const opened = store();
      if (opened === undefined) throw new BridgeError("UNAVAILABLE", "no outbox store is open");
      this.#hear(opened);
      const request = { routeId: parts.config.id, bindingId: target.bindingId, limit, loanMs };
      const claims = await parts.storeCalls.outbox.during(orAborted(opened.claim(request, bounded), bounded));
      this.#unreadable.over();
      return claims;
    } catch (thrown) {
      const error = BridgeError.from(thrown);
      if (!signal.aborted) this.#unreadable.met(error, { binding_id: target.bindingId });
      return error;
    }
  }

  /** Also from a later claim on, because the store may open after the route has begun. */
  #hear(store: OutboxStore): void {
    if (store === this.#hearing) return;
    const { parts, target } = this.#options;
    this.#arrivals?.[Symbol.dispose]();
    this.#hearing = store;
    this.#arrivals = store.onArrival?.({ routeId: parts.config.id, bindingId: target.bindingId }, () => this.wake());
  }

  #take(claims: readonly OutboxClaim[]): void {
    const { parts } = this.#options;
    const batch: Batch = {
      deadline: parts.clock.monotonic() + drainBudget(claims.length, this.#policy.sendTimeoutMs, parts.budgets()),
      blocked: new Set(),
    };
    for (const claim of claims) {
      this.#slots.tryTake();
      void this.#deliver(claim, batch);
    }
  }

  async #deliver(claim: OutboxClaim, batch: Batch): Promise<void> {
    const { id, orderingKey: key } = claim.record;
    // A set by id costs more than all else that is kept here of a record: V8 makes an atom of each new key.
    const shared = this.#options.store()?.shared === true;
    if (shared) this.#held.add(id);
    const turn = key === undefined ? undefined : this.#order.enter(key);
    try {
      if (turn !== undefined) await turn.ready;
      const { end, outcome } = await this.#sendOrFail(claim, batch);
      if (end.kind === "retry" && key !== undefined) batch.blocked.add(key);
      // Entered before the next of its key is sent, so that a crash repeats at most the last one.
      const entered = await this.#ends.enter({ id, token: claim.token, outcome: end });
      if (end.kind === "retry") this.#retrying.add(id, end.delayMs + POLL_MS.idle);
      else this.#retrying.delete(id);
      // The next of its key could not be claimed before.
      if (key !== undefined && end.kind !== "retry") this.wake();
      if (entered && end.kind === "done") await this.#verdicts.entered(claim.record);
      if (entered && outcome !== undefined) this.#settled(claim, outcome);
    } catch (thrown) {
      // It is sent again when its loan has lapsed.
      this.#surprised(claim.record, thrown);
    } finally {
      turn?.leave();
      if (shared) this.#held.delete(id);
      this.#slots.release();
    }
  }

  #settled({ record }: OutboxClaim, outcome: RecordOutcome): void {
    const { target, store, depth, outcomes } = this.#options;
    this.#verdicts.forget(record.id);
    if (target.account.drain(outcome.disposition, record.id, store()?.shared === true)) depth.give(1);
    outcomes.ended(record.id, outcome);
  }

  /** Whether what was lent has to go back as it is. */
  #mayNotSend({ orderingKey: key }: OutboxRecord, batch: Batch): boolean {
    const { parts, target } = this.#options;
    if (this.#leaving || target.strays.full || parts.control.pause.paused || parts.clock.monotonic() > batch.deadline)
      return true;
    if (target.link?.lease?.term?.lasts(this.#policy.sendTimeoutMs) === false) return true;
    return target.link?.connected === false || (key !== undefined && batch.blocked.has(key));
  }

  async #send(claim: OutboxClaim, batch: Batch): Promise<Verdict> {
    const { parts, target } = this.#options;
    const { record, attempts } = claim;
    if (this.#mayNotSend(record, batch)) return giveBack(attempts);
    const turn = target.rate.take(this.#quiescing.signal);
    if (turn !== undefined) {
      await turn.catch(() => {});
      if (this.#mayNotSend(record, batch)) return giveBack(attempts);
    }
    const expired = expiryOf(record.envelope, parts.clock);
    if (expired !== undefined) return this.#verdicts.failed(claim, expired, this.#work);
    const ended = this.#gates.admit(record.envelope, target.bindingId);
    if (typeof ended !== "function") return this.#verdicts.failed(claim, ended, this.#work);
    const { envelope, received } = record;
    // Processors may have taken the context away, which does not change where the message belongs.
    const parent = target.tracer && readTraceContext((received ?? envelope).headers);
    let span: Span | undefined;
    try {
      span = target.tracer?.send({ envelope, parent, attempt: attempts + 1 });
      target.account.attempts++;
      await this.#guards.send(target, sentWithContext(envelope, span), record.address, claim);
    } catch (thrown) {
      ended(thrown);
      endSend(span, thrown);
      if (thrown instanceof Cancelled) return giveBack(attempts);
      this.#surprised(record, thrown);
      return this.#verdicts.failed(claim, BridgeError.from(thrown), this.#work);
    }
    ended(undefined);
    endSend(span, undefined);
    return this.#verdicts.accepted(claim);
  }

  /** What nobody foresaw of a record charges it, so that it is not tried for ever. */
  async #sendOrFail(claim: OutboxClaim, batch: Batch): Promise<Verdict> {
    try {
      return await this.#send(claim, batch);
    } catch (thrown) {
      this.#surprised(claim.record, thrown);
      return this.#verdicts.failed(claim, BridgeError.from(thrown), this.#work);
    }
  }

  #surprised({ bindingId, envelope }: OutboxRecord, thrown: unknown): void {
    this.#options.parts.surprises.tell(`binding ${bindingId}`, thrown, { envelope_id: envelope.id });
  }
}
