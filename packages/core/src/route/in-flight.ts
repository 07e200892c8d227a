import { BridgeError, type Delivery, type Settlement } from "@bridge/ports";
import { Bag, isThenable, orAborted } from "@bridge/ports/internal";
import type { Histogram } from "../accounting/histogram.ts";
import type { Origin } from "../accounting/leg-account.ts";
import type { Term } from "../lease/term.ts";
import { beginWithContext } from "../trace/carry-context.ts";
import { traceFields } from "../trace/trace-fields.ts";
import { AbortWatches } from "./abort-watches.ts";
import type { Admission } from "./admission.ts";
import type { Failures } from "./failures.ts";
import type { Handover } from "./handover.ts";
import { orderingKey } from "./identity.ts";
import type { Injection } from "./injection.ts";
import { KeyedOrder } from "./keyed-order.ts";
import type { Outcome } from "./outcome.ts";
import type { Process } from "./process.ts";
import type { RouteParts } from "./route-parts.ts";
import { settlementOf } from "./settlement.ts";
import { Work } from "./work.ts";

export interface InFlightOptions {
  readonly parts: RouteParts;
  readonly process: Process;
  readonly handover: Handover;
  readonly failures: Pick<Failures, "forget">;
  /** Takes back the slots of work that has ended. */
  readonly admission: Admission;
  readonly onBug: (error: unknown) => void;
}

/** A message in flight to one binding. Times are epoch milliseconds. */
export interface InFlightPlace {
  readonly routeId: string;
  /** Empty until a binding has been chosen. */
  readonly bindingId: string;
  /** When the route took the message. */
  readonly since: number;
  /** Sends tried since then, to any binding. */
  readonly attempts: number;
}

/** Everything that a route carries, from the first step to the settlement. Only this class settles. */
export class InFlight implements Disposable {
  readonly #parts: RouteParts;
  readonly #process: Process;
  readonly #handover: Handover;
  readonly #failures: Pick<Failures, "forget">;
  readonly #admission: Admission;
  readonly #onBug: (error: unknown) => void;
  readonly #hold: Histogram;
  readonly #keys = new KeyedOrder();
  readonly #works = new Bag<Work>();
  readonly #watches = new AbortWatches(
    (signal) => this.#takenBack(signal),
    () => this.#signalsInUse(),
  );
  #left = false;

  constructor({ parts, process, handover, failures, admission, onBug }: InFlightOptions) {
    this.#parts = parts;
    this.#process = process;
    this.#handover = handover;
    this.#failures = failures;
    this.#admission = admission;
    this.#onBug = onBug;
    this.#hold = parts.account.hold;
  }

  /** How long the oldest has been in flight, in milliseconds; 0 when nothing is. */
  get oldestMs(): number {
    const now = this.#parts.clock.monotonic();
    let oldest = now;
    for (const { startedAt } of this.#works) oldest = Math.min(oldest, startedAt);
    return now - oldest;
  }

  /** Scans everything in flight. */
  find(envelopeId: string): readonly InFlightPlace[] {
    const { clock, config } = this.#parts;
    const places: InFlightPlace[] = [];
    for (const { received, startedAt, targets, sends } of this.#works) {
      if (received.id !== envelopeId) continue;
      const since = Math.round(clock.now() - (clock.monotonic() - startedAt));
      const bindings = targets.length === 0 ? [""] : targets.map(({ bindingId }) => bindingId);
      for (const bindingId of bindings) places.push({ routeId: config.id, bindingId, since, attempts: sends });
    }
    return places;
  }

  /** Whether deliveries were abandoned that the source redelivers only when asked to. */
  get left(): boolean {
    return this.#left;
  }

  /** Resolves when everything that is in flight now has ended. */
  async ended(): Promise<void> {
    for (const work of this.#works) await work.ended;
  }

  /** Abandons the work: it is not settled, dropped, dead-lettered or charged. */
  cancel(work: Work): void {
    if (work.origin === "received" && work.delivery.signal?.aborted !== true) this.#left = true;
    work.cancel();
    this.#handover.cancel(work);
  }

  cancelAll(): void {
    for (const work of this.#works) this.cancel(work);
  }

  /** Abandons the work that a pause holds. */
  cancelParked(): void {
    for (const work of this.#works) if (work.parked) this.cancel(work);
  }

  /** Leaves everything to another instance; the source redelivers it there by itself. */
  leaveAll(): void {
    for (const work of this.#works) {
      work.cancel();
      this.#handover.cancel(work);
    }
  }

  /** Makes work of a delivery whose slot is taken. */
  begin(delivery: Delivery, origin: Origin, injection: Injection, term?: Term): Work {
    const { clock, account, tracer } = this.#parts;
    const { onlyBinding, entry, unmarked } = injection;
    if (delivery.signal !== undefined) this.#watches.watch(delivery.signal);
    if (term !== undefined) this.#watches.watch(term.signal);
    const span = tracer?.deliver({
      envelope: injection.envelope,
      origin: entry === undefined ? origin : "redriven",
      receiveCount: delivery.receiveCount,
    });
    const envelope = beginWithContext(injection.envelope, span);
    const startedAt = clock.monotonic();
    const work = new Work({ delivery, envelope, origin, onlyBinding, entry, unmarked, term, span, startedAt });
    account.inFlight++;
    return work;
  }

  /** Carries the work to its end; resolves with its outcome, or with `undefined` after a bug. */
  start(work: Work, refused: BridgeError | undefined): Promise<Outcome | undefined> {
    this.#works.add(work);
    const ended = this.#carry(work, refused);
    work.ended = ended;
    return ended;
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
      const told = settlement === undefined ? undefined : this.#settle(work, settlement, outcome);
      if (told !== undefined) await told;
      if (settlement !== undefined && this.#parts.taps.watched) this.#show(work, outcome);
      this.#enter(outcome);
      work.span?.end(outcome.disposition, outcome.error);
      return outcome;
    } catch (bug) {
      work.span?.end("abandoned", BridgeError.from(bug));
      this.#onBug(bug);
      return undefined;
    } finally {
      turn?.leave();
      this.#works.delete(work);
      this.#parts.account.inFlight--;
      this.#admission.release();
    }
  }

  /** Shows the message to taps. A message that goes through an outbox has been settled, but perhaps not sent yet. */
  #show(work: Work, { disposition, records = [] }: Outcome): void {
    const { taps, clock } = this.#parts;
    const now = clock.monotonic();
    const ms = now - work.startedAt;
    const legs = [
      ...(work.legs ?? []),
      ...records.map((leg) => ({ bindingId: leg.bindingId, outcome: leg.disposition, attempts: 0, ms })),
    ];
    taps.settled({ received: work.received, outcome: disposition, legs, ms }, now);
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
  #settle(work: Work, settlement: Settlement, { disposition }: Outcome): Promise<void> | undefined {
    // Whoever holds the lease by now has the message too, and settles it.
    if (work.term?.live === false) return undefined;
    try {
      const told: unknown = work.delivery.settle(settlement);
      if (settlement.kind === "accept") this.#failures.forget(work);
      if (isThenable(told)) {
        return work.until(Promise.resolve(told as PromiseLike<void>)).then(
          () => this.#held(work, this.#parts.clock.monotonic()),
          (error: unknown) => this.#notSettled(work, error),
        );
      }
      // What was just delivered and told at once was told in that same turn: no look at the clock for it.
      const acceptedAt = disposition === "delivered" ? this.#handover.acceptedAt : undefined;
      this.#held(work, acceptedAt ?? this.#parts.clock.monotonic());
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
    this.#parts.surprises.tell(`receiver ${this.#parts.config.receiverId}`, error, { envelope_id: work.received.id });
    this.#parts.logger.warn("delivery not settled: its source will redeliver it", {
      envelope_id: work.received.id,
      error: BridgeError.from(error).message,
      ...traceFields(work.span?.context),
    });
  }

  /** The source takes back what it handed out, or the lease is lost under which it came. */
  #takenBack(signal: AbortSignal): void {
    for (const work of this.#works) {
      if (work.delivery.signal === signal || work.term?.signal === signal) this.cancel(work);
    }
  }

  #signalsInUse(): ReadonlySet<AbortSignal | undefined> {
    const signals = new Set<AbortSignal | undefined>();
    for (const { delivery, term } of this.#works) signals.add(delivery.signal).add(term?.signal);
    return signals;
  }

  [Symbol.dispose](): void {
    this.#watches[Symbol.dispose]();
  }
}
