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
import type { Term } from "../lease/term.ts";
import { OperationError } from "../operation-error.ts";
import { beginWithContext } from "../trace/carry-context.ts";
import { traceFields } from "../trace/trace-fields.ts";
import type { Drain } from "../outbox/drain.ts";
import { type DrainedOutcome, RouteOutbox } from "../outbox/route-outbox.ts";
import { whenAborted } from "../when-aborted.ts";
import { Admission } from "./admission.ts";
import { DirectHold } from "./direct-hold.ts";
import { Failures } from "./failures.ts";
import type { Handover } from "./handover.ts";
import { orderingKey } from "./identity.ts";
import { type IngressContext, normalise, undecodable } from "./ingress.ts";
import type { Reader } from "./intake.ts";
import type { InjectResult } from "./inject-result.ts";
import { type Injection, leasedElsewhere, replaced, replayOf, resultOf, stopped } from "./injection.ts";
import { KeyedOrder } from "./keyed-order.ts";
import type { Outcome } from "./outcome.ts";
import { Process } from "./process.ts";
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
  readonly #watched = new WeakSet<AbortSignal>();
  readonly #onBug: (error: unknown) => void;
  readonly #ingress: IngressContext;
  readonly #hold: Histogram;
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
    this.#ingress = { sourceId: parts.config.receiverId, clock: parts.clock, random: parts.random };
  }

  /** Whether messages can go through right now: its links are up, its source is there, dead letters can be written. */
  get able(): boolean {
    const { sourceLink, targets, intake } = this.#parts;
    if (this.#retiring || this.#stopped || this.paused || intake.lost) return false;
    if (this.#failures.dlqFailing || !this.#handover.able) return false;
    if (this.#outbox?.able === false) return false;
    if (sourceLink !== undefined && !sourceLink.connected) return false;
    for (const { link } of targets.values()) if (link !== undefined && !link.connected) return false;
    return true;
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

  /** Before the first run: looks up what a former one has left. @throws BridgeError when the outbox cannot tell */
  async recover(signal: AbortSignal): Promise<void> {
    await this.#outbox?.recover(signal);
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

  /** Resolves when everything that is in flight now has ended, or `signal` aborts. What a pause holds is abandoned. */
  async quiesce(signal: AbortSignal): Promise<void> {
    if (this.paused) for (const work of this.#inFlight) if (work.parked) this.#cancel(work);
    await Promise.all([orAborted(this.#allEnded(), signal).catch(() => {}), this.#outbox?.quiesce(signal)]);
  }

  /** Abandons everything in flight: nothing of it is settled, dropped, dead-lettered or charged. */
  cancelAll(): void {
    this.#stopped = true;
    for (const work of this.#inFlight) this.#cancel(work);
  }

  #cancel(work: Work): void {
    if (work.origin === "received" && work.delivery.signal?.aborted !== true) this.#left = true;
    work.cancel();
    this.#handover.cancel(work);
  }

  [Symbol.dispose](): void {
    this.cancelAll();
    this.#handover[Symbol.dispose]();
    for (const drain of this.drains) drain[Symbol.dispose]();
  }

  /** Carries an injected message and tells what became of it; rejects with the signal's reason when it aborts. */
  async inject(message: SourceMessage, signal: AbortSignal): Promise<InjectResult> {
    const { envelope, error } = normalise(message, { ...this.#ingress, sourceId: "inject" });
    return this.#carryInjected({ envelope, refused: error }, signal);
  }

  /** Re-issues a dead letter under a fresh envelope id, to the binding that failed (spec 4.6.4, 4.6.5). */
  async replay(entry: DeadLetter, signal: AbortSignal): Promise<InjectResult> {
    await this.#outbox?.refuseSecondRedrive(entry.id, signal);
    return this.#carryInjected(replayOf(entry, this.#parts), signal);
  }

  async #carryInjected(injection: Injection, signal: AbortSignal): Promise<InjectResult> {
    const { envelope, refused, entryId } = injection;
    if (this.paused) throw new OperationError("conflict", "the route is paused: resume it first");
    const missing = this.#handover.leases.find(({ held }) => !held);
    if (missing !== undefined) throw leasedElsewhere(missing);
    if (this.#retiring) throw replaced();
    await this.admission.take(signal);
    if (this.#stopped) {
      this.admission.release();
      throw stopped();
    }
    const work = this.#begin({ message: envelope, settle: () => {} }, "injected", injection);
    const cancel = (): void => this.#cancel(work);
    signal.addEventListener("abort", cancel, { once: true });
    const carried = await this.#start(work, refused).finally(() => signal.removeEventListener("abort", cancel));
    if (carried === undefined) throw new OperationError("failed", "the inject failed: internal error");
    const outcome: DrainedOutcome =
      this.#outbox === undefined ? carried : await this.#outbox.drained(carried, entryId !== undefined, signal);
    return resultOf(work, outcome, signal);
  }

  /** Starts work on a delivery, whose slot is already taken; gives the slot back when the delivery was taken back. */
  receive(delivery: Delivery): void {
    const lease = this.#parts.sourceLink?.lease;
    const term = lease?.term;
    const fenced = lease !== undefined && term?.live !== true;
    if (this.#stopped || fenced || delivery.signal?.aborted === true) {
      this.admission.release();
      return;
    }
    const { envelope, error } = normalise(delivery.message, this.#ingress);
    const work = this.#begin(delivery, "received", { envelope }, term);
    const refused = delivery.undecodable === undefined ? error : undecodable(delivery.undecodable);
    void this.#start(work, refused);
  }

  #begin(delivery: Delivery, origin: Origin, injection: Injection, term?: Term): Work {
    const { clock, account, tracer } = this.#parts;
    const { onlyBinding, entryId } = injection;
    account.inFlight++;
    if (delivery.signal !== undefined) this.#watch(delivery.signal, (work) => work.delivery.signal);
    if (term !== undefined) this.#watch(term.signal, (work) => work.term?.signal);
    const span = tracer?.deliver({
      envelope: injection.envelope,
      origin: entryId === undefined ? origin : "redriven",
      receiveCount: delivery.receiveCount,
    });
    const envelope = beginWithContext(injection.envelope, span);
    return new Work({ delivery, envelope, origin, onlyBinding, entryId, term, span, startedAt: clock.monotonic() });
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

  /** From the first step to the settlement. Never rejects: a bug leaves the delivery unsettled and makes us unhealthy. */
  async #carry(work: Work, refused: BridgeError | undefined): Promise<Outcome | undefined> {
    const key = orderingKey(work.received);
    const turn = key === undefined ? undefined : this.#keys.enter(key);
    try {
      if (turn !== undefined) {
        work.waited();
        await orAborted(turn.ready, work.signal).catch(() => {});
      }
      const outcome = await this.#process.run(work, refused);
      const settlement = settlementOf(outcome, work.received.id);
      const told = settlement === undefined ? undefined : this.#settle(work, settlement);
      if (told !== undefined) await told;
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

  /**
   * Tells the source: the only place that does. When that fails the message is where it should be, but its source does
   * not know and will hand it out again. An acknowledgement that has to wait its turn holds the slot: until it is out,
   * which is when the promise resolves, the delivery is unsettled.
   */
  #settle(work: Work, settlement: Settlement): Promise<void> | undefined {
    // Whoever holds the lease by now has the message too, and settles it.
    if (work.term?.live === false) return undefined;
    try {
      const told = work.delivery.settle(settlement);
      if (told !== undefined) {
        return work.until(told).then(
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
    this.#parts.logger.warn("delivery not settled: its source will redeliver it", {
      envelope_id: work.received.id,
      error: BridgeError.from(error).message,
      ...traceFields(work.span?.context),
    });
  }

  /**
   * When the source takes back what it handed out, or the lease is lost under which it came, work on it ends. One
   * listener serves a whole connection or term.
   */
  #watch(signal: AbortSignal, of: (work: Work) => AbortSignal | undefined): void {
    if (this.#watched.has(signal)) return;
    this.#watched.add(signal);
    const onAbort = (): void => {
      for (const work of this.#inFlight) if (of(work) === signal) this.#cancel(work);
    };
    signal.addEventListener("abort", onAbort, { once: true });
  }
}
