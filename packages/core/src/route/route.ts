import {
  Bag,
  BridgeError,
  type DeadLetter,
  type Delivery,
  orAborted,
  type OutboxRecord,
  type Settlement,
  type SourceMessage,
} from "@bridge/ports";
import type { Histogram } from "../accounting/histogram.ts";
import type { Origin } from "../accounting/leg-account.ts";
import type { Lease } from "../lease/lease.ts";
import type { Term } from "../lease/term.ts";
import { isThenable } from "../is-thenable.ts";
import { OperationError } from "../operation-error.ts";
import { beginWithContext } from "../trace/carry-context.ts";
import { traceFields } from "../trace/trace-fields.ts";
import type { Drain } from "../outbox/drain.ts";
import { type DrainedOutcome, RouteOutbox } from "../outbox/route-outbox.ts";
import type { RouteProgress } from "../view/bridge-view.ts";
import { whenAborted } from "../when-aborted.ts";
import { AbortWatches } from "./abort-watches.ts";
import { Admission } from "./admission.ts";
import { DirectHold } from "./direct-hold.ts";
import { Failures } from "./failures.ts";
import type { Handover } from "./handover.ts";
import { orderingKey } from "./identity.ts";
import { type Ingress, type IngressContext, normalise, undecodable } from "./ingress.ts";
import type { Reader } from "./intake.ts";
import type { InjectResult } from "./inject-result.ts";
import { type Injection, leasedElsewhere, notBegun, replaced, replayOf, resultOf } from "./injection.ts";
import { KeyedOrder } from "./keyed-order.ts";
import type { Outcome } from "./outcome.ts";
import { Process } from "./process.ts";
import { hindranceOf, obstacleOf } from "./obstacle.ts";
import { WayIn, WayOut } from "./lane-sources.ts";
import { ProgressWatch } from "./progress-watch.ts";
import type { RouteParts } from "./route-parts.ts";
import { settlementOf } from "./settlement.ts";
import { Work } from "./work.ts";

/** One route at work: takes deliveries when it has room, carries each to its end, and settles it in this one place. */
export class Route implements Reader {
  readonly id: string;
  readonly admission: Admission;
  readonly #parts: RouteParts;
  readonly #failures: Failures;
  readonly #outbox: RouteOutbox | undefined;
  readonly #handover: Handover;
  readonly #process: Process;
  readonly #keys = new KeyedOrder();
  readonly #inFlight = new Bag<Work>();
  readonly #watches = new AbortWatches(
    (signal) => this.#takenBack(signal),
    () => this.#signalsInUse(),
  );
  readonly #onBug: (error: unknown) => void;
  readonly #ingress: IngressContext;
  readonly #hold: Histogram;
  readonly #progress: ProgressWatch;
  #retiring = false;
  #stopped = false;
  #left = false;

  constructor(parts: RouteParts, onBug: (error: unknown) => void) {
    this.id = parts.config.id;
    this.#parts = parts;
    this.#failures = new Failures(parts);
    const mode = parts.config.deliveryMode;
    this.#outbox = mode === "shared_outbox" ? new RouteOutbox({ parts, failures: this.#failures }) : undefined;
    this.#handover = this.#outbox?.handover ?? new DirectHold(parts, this.#failures);
    this.#process = new Process(parts, this.#failures, this.#handover);
    this.admission = new Admission(parts.config.policy, parts.control, this.#handover.leases);
    this.#onBug = onBug;
    this.#hold = parts.account.hold;
    this.#progress = this.#watch();
    this.#ingress = { sourceId: parts.config.receiverId, clock: parts.clock, random: parts.random };
  }

  /** Whether messages can go through right now: its links are up, its source is there, dead letters can be written. */
  get able(): boolean {
    const { targets, processors } = this.#parts;
    if (this.#retiring || this.#stopped || this.#obstacle !== undefined || !this.#handover.able) return false;
    return ![...targets.values(), ...processors].some(({ strays }) => strays.full);
  }

  get #obstacle(): string | undefined {
    return obstacleOf(this.#parts, this.#failures.dlqFailure, this.#outbox?.obstacle);
  }

  /** How it gets on, as of now. */
  get progress(): RouteProgress {
    return this.#progress.read();
  }

  #watch(): ProgressWatch {
    const { clock, config, targets } = this.#parts;
    return new ProgressWatch({
      clock,
      sendTimeoutMs: config.policy.sendTimeoutMs,
      wayIn: new WayIn(this.#parts),
      waysOut: [...targets.values()].map((target) => new WayOut(target)),
      standing: () => ({
        obstacle: this.#obstacle ?? hindranceOf(this.#parts),
        full: this.#outbox?.full,
      }),
      oldestUnsettledMs: () => {
        const now = clock.monotonic();
        let oldest = now;
        for (const { startedAt } of this.#inFlight) oldest = Math.min(oldest, startedAt);
        return now - oldest;
      },
    });
  }

  /** The bindings and processors for which it stands still, because what was given up there does not end. */
  get stuck(): readonly string[] {
    const { targets, processors } = this.#parts;
    return [
      ...[...targets.values()].filter(({ strays }) => strays.stuck).map(({ bindingId }) => `binding ${bindingId}`),
      ...processors.filter(({ strays }) => strays.stuck).map(({ id }) => `processor ${id}`),
    ];
  }

  /** Whether a session that it needs is another live instance's business. */
  get elsewhere(): boolean {
    const { sourceLink, targets } = this.#parts;
    if (sourceLink?.lease?.elsewhere === true) return true;
    return [...targets.values()].some(({ link }) => link?.lease?.elsewhere === true);
  }

  /** Whether an operator has paused it. */
  get paused(): boolean {
    return this.#parts.control.pause.paused;
  }

  /** The drains of its outbox, to be run beside it; none in `direct_hold`. */
  get drains(): readonly Drain[] {
    return [...(this.#outbox?.drains.values() ?? [])];
  }

  /** The outbox has been opened, and holds so much for a binding that was not in our books. */
  recovered(bindingId: string, depth: number): void {
    this.#outbox?.recovered(bindingId, depth);
  }

  /** A record was moved to the DLQ by an operator; `own` when it was in our books. */
  recordLeft(record: OutboxRecord, own: boolean): void {
    this.#outbox?.left(record, own);
  }

  hasBinding(bindingId: string): boolean {
    return this.#parts.targets.has(bindingId);
  }

  /** Takes and carries deliveries until `signal` aborts; returns when all that was in flight has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { intake } = this.#parts;
    this.#progress.begin();
    intake.attach(this);
    await whenAborted(signal);
    intake.detach(this);
    await this.#allEnded();
  }

  /** Takes nothing more, so that what it has can end before another route takes its place. */
  retire(): void {
    this.#retiring = true;
    this.#parts.intake.detach(this);
  }

  /** Whether deliveries of its source were abandoned, which the source would only hand out again if it were told to. */
  get left(): boolean {
    return this.#left;
  }

  /**
   * Resolves when everything that is in flight now has ended, with `emptied` what is in the outbox too, or `signal`
   * aborts. What a pause holds is abandoned.
   */
  async quiesce(signal: AbortSignal, emptied = false): Promise<void> {
    if (this.paused) for (const work of this.#inFlight) if (work.parked) this.#cancel(work);
    const ended = orAborted(this.#allEnded(), signal).catch(() => {});
    if (emptied) {
      await ended;
      await this.#outbox?.emptied(signal);
    }
    await Promise.all([ended, this.#outbox?.quiesce(signal)]);
  }

  /** Abandons everything in flight: nothing of it is settled, dropped, dead-lettered or charged. */
  cancelAll(): void {
    this.#stopped = true;
    for (const work of this.#inFlight) this.#cancel(work);
  }

  /**
   * Another instance sends by now what needs `lease`: abandons what is here for it, so that the source may hand it to
   * whoever can. Returns whether that concerns this route at all.
   */
  leaveTo(lease: Lease): boolean {
    if (!this.#handover.leases.includes(lease)) return false;
    for (const work of this.#inFlight) {
      work.cancel();
      this.#handover.cancel(work);
    }
    return true;
  }

  /** Waits for the outbox no more; what has been written to it is not known then. */
  giveUp(): void {
    this.#outbox?.giveUp();
  }

  #cancel(work: Work): void {
    if (work.origin === "received" && work.delivery.signal?.aborted !== true) this.#left = true;
    work.cancel();
    this.#handover.cancel(work);
  }

  [Symbol.dispose](): void {
    this.cancelAll();
    this.#watches[Symbol.dispose]();
    this.#handover[Symbol.dispose]();
    this.#progress[Symbol.dispose]();
    this.#parts.failureLog[Symbol.dispose]();
    for (const drain of this.drains) drain[Symbol.dispose]();
  }

  /** Carries an injected message and tells what became of it; rejects with the signal's reason when it aborts. */
  async inject(message: SourceMessage, signal: AbortSignal): Promise<InjectResult> {
    const { envelope, error } = this.#normalise(message, "inject");
    return this.#carryInjected({ envelope, refused: error }, signal);
  }

  /** Re-issues a dead letter under a fresh envelope id, to the binding that failed (spec 4.6.4, 4.6.5). */
  async replay(entry: DeadLetter, signal: AbortSignal): Promise<InjectResult> {
    await this.#outbox?.refuseSecondRedrive(entry.id, signal).catch((error: unknown) => {
      throw signal.aborted ? notBegun() : error;
    });
    return this.#carryInjected(replayOf(entry, this.#parts), signal);
  }

  async #carryInjected(injection: Injection, signal: AbortSignal): Promise<InjectResult> {
    const { refused, entryId } = injection;
    if (this.paused) throw new OperationError("conflict", "the route is paused: resume it first");
    const missing = this.#handover.leases.find(({ held }) => !held);
    if (missing !== undefined) throw leasedElsewhere(missing);
    if (this.#retiring) throw replaced();
    await this.admission.take(signal).catch(() => {
      throw notBegun();
    });
    if (this.#stopped) {
      this.admission.release();
      throw notBegun();
    }
    const work = this.#beginInjected(injection);
    const cancel = (): void => this.#cancel(work);
    signal.addEventListener("abort", cancel, { once: true });
    const carried = await this.#start(work, refused).finally(() => signal.removeEventListener("abort", cancel));
    if (carried === undefined) throw new OperationError("failed", "the inject failed: internal error");
    const outcome: DrainedOutcome =
      this.#outbox === undefined
        ? carried
        : await this.#outbox.drained(work.received, carried, entryId !== undefined, signal);
    return resultOf(work, outcome, signal);
  }

  #beginInjected(injection: Injection): Work {
    try {
      return this.#begin({ message: injection.envelope, settle: () => {} }, "injected", injection);
    } catch (thrown) {
      this.admission.release();
      throw thrown;
    }
  }

  /** Starts work on a delivery, whose slot is already taken; gives the slot back when the delivery was taken back. */
  receive(delivery: Delivery): void {
    const begun = this.#begun(delivery);
    if (begun === undefined) this.admission.release();
    else void this.#start(begun.work, begun.refused);
  }

  /** `undefined` when nothing is to be done for it. One that cannot even be read is its source's to hand out again. */
  #begun(delivery: Delivery): { readonly work: Work; readonly refused: BridgeError | undefined } | undefined {
    const lease = this.#parts.sourceLink?.lease;
    const term = lease?.term;
    const fenced = lease !== undefined && term?.live !== true;
    try {
      if (this.#stopped || fenced || delivery.signal?.aborted === true) return undefined;
      const { envelope, error } = this.#normalise(delivery.message, this.#ingress.sourceId);
      const refused = delivery.undecodable === undefined ? error : undecodable(delivery.undecodable);
      return { work: this.#begin(delivery, "received", { envelope }, term), refused };
    } catch (thrown) {
      this.#parts.surprises.tell(`receiver ${this.#ingress.sourceId}`, thrown);
      return undefined;
    }
  }

  #normalise(message: SourceMessage, sourceId: string): Ingress {
    const context = sourceId === this.#ingress.sourceId ? this.#ingress : { ...this.#ingress, sourceId };
    const ingress = normalise(message, context);
    const { envelope, error } = ingress;
    if (error?.cause !== undefined) {
      this.#parts.surprises.tell(`source ${sourceId}`, error.cause, { envelope_id: envelope.id });
    }
    return ingress;
  }

  #begin(delivery: Delivery, origin: Origin, injection: Injection, term?: Term): Work {
    const { clock, account, tracer } = this.#parts;
    const { onlyBinding, entryId } = injection;
    if (delivery.signal !== undefined) this.#watches.watch(delivery.signal);
    if (term !== undefined) this.#watches.watch(term.signal);
    const span = tracer?.deliver({
      envelope: injection.envelope,
      origin: entryId === undefined ? origin : "redriven",
      receiveCount: delivery.receiveCount,
    });
    const envelope = beginWithContext(injection.envelope, span);
    const startedAt = clock.monotonic();
    const work = new Work({ delivery, envelope, origin, onlyBinding, entryId, term, span, startedAt });
    account.inFlight++;
    return work;
  }

  #start(work: Work, refused: BridgeError | undefined): Promise<Outcome | undefined> {
    this.#inFlight.add(work);
    const ended = this.#carry(work, refused);
    work.ended = ended;
    return ended;
  }

  /** Resolves when everything that is in flight now has ended. */
  async #allEnded(): Promise<void> {
    for (const work of this.#inFlight) await work.ended;
  }

  /**
   * From the first step to the settlement. Never rejects: what is thrown on the way is this message's failure, and a bug
   * that not even that holds for leaves the delivery unsettled and makes us unhealthy.
   */
  async #carry(work: Work, refused: BridgeError | undefined): Promise<Outcome | undefined> {
    const key = orderingKey(work.received);
    const turn = key === undefined ? undefined : this.#keys.enter(key);
    try {
      if (turn !== undefined) {
        work.waited();
        await orAborted(turn.ready, work.signal).catch(() => {});
      }
      let outcome: Outcome;
      try {
        outcome = await this.#process.run(work, refused);
      } catch (thrown) {
        outcome = await this.#process.failed(work, thrown);
      }
      const settlement = settlementOf(outcome, work.received.id);
      const told = settlement === undefined ? undefined : this.#settle(work, settlement);
      if (told !== undefined) await told;
      this.#enter(outcome);
      work.span?.end(outcome.disposition, outcome.error);
      return outcome;
    } catch (bug) {
      work.span?.end("abandoned", BridgeError.from(bug));
      this.#onBug(bug);
      return undefined;
    } finally {
      turn?.leave();
      this.#inFlight.delete(work);
      this.#parts.account.inFlight--;
      this.admission.release();
    }
  }

  #enter({ disposition, error }: Outcome): void {
    if (disposition === "abandoned" || disposition === "released") return;
    const { account } = this.#parts;
    account.ended++;
    if (error === undefined) account.handedOn++;
  }

  /**
   * Tells the source: the only place that does. When that fails the message is where it should be, but its source does
   * not know and will hand it out again. An acknowledgement that has to wait its turn holds the slot: until it is out,
   * which is when the promise resolves, the delivery is unsettled.
   */
  #settle(work: Work, settlement: Settlement): Promise<void> | undefined {
    // Whoever holds the lease by now has the message too, and settles it.
    if (work.term?.live === false) return undefined;
    try {
      const told: unknown = work.delivery.settle(settlement);
      if (isThenable(told)) {
        return work.until(Promise.resolve(told)).then(
          () => this.#held(work, this.#parts.clock.monotonic()),
          (error: unknown) => this.#notSettled(work, error),
        );
      }
      // What was just delivered and told at once was told in that same turn: no look at the clock for it.
      const delivered = settlement.kind === "accept" && settlement.outcome === "delivered";
      this.#held(work, (delivered ? this.#handover.acceptedAt : undefined) ?? this.#parts.clock.monotonic());
    } catch (error) {
      this.#notSettled(work, error);
    }
    return undefined;
  }

  #held(work: Work, until: number): void {
    if (work.origin === "received") this.#hold.observe(until - work.startedAt);
  }

  #notSettled(work: Work, error: unknown): void {
    this.#parts.account.settleFailures++;
    if (work.cancelled) return;
    this.#parts.surprises.tell(`receiver ${this.#ingress.sourceId}`, error, { envelope_id: work.received.id });
    this.#parts.logger.warn("delivery not settled: its source will redeliver it", {
      envelope_id: work.received.id,
      error: BridgeError.from(error).message,
      ...traceFields(work.span?.context),
    });
  }

  /** The source takes back what it handed out, or the lease is lost under which it came. */
  #takenBack(signal: AbortSignal): void {
    for (const work of this.#inFlight) {
      if (work.delivery.signal === signal || work.term?.signal === signal) this.#cancel(work);
    }
  }

  #signalsInUse(): ReadonlySet<AbortSignal> {
    const signals = new Set<AbortSignal>();
    for (const { delivery, term } of this.#inFlight) {
      if (delivery.signal !== undefined) signals.add(delivery.signal);
      if (term !== undefined) signals.add(term.signal);
    }
    return signals;
  }
}
