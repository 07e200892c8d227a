import { type BridgeError, type DeadLetter, type Delivery, type OutboxRecord, type SourceMessage } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import type { LaneStanding } from "../dlq-job/job-parts.ts";
import { NO_JOB, type ReplayRequest } from "../dlq-job/replay-id.ts";
import type { Lease } from "../lease/lease.ts";
import { OperationError } from "../operation-error.ts";
import type { MovedAs } from "../outbox/dead-letter-record.ts";
import type { Drain } from "../outbox/drain.ts";
import { type DrainedOutcome, RouteOutbox } from "../outbox/route-outbox.ts";
import type { RouteProgress } from "../view/bridge-view.ts";
import { whenAborted } from "../when-aborted.ts";
import { Admission } from "./admission.ts";
import { DirectHold } from "./direct-hold.ts";
import { Failures } from "./failures.ts";
import type { Handover } from "./handover.ts";
import { InFlight, type InFlightPlace } from "./in-flight.ts";
import { type Ingress, type IngressContext, normalise, undecodable } from "./ingress.ts";
import type { Reader } from "./intake.ts";
import type { InjectResult } from "./inject-result.ts";
import {
  type Injection,
  leasedElsewhere,
  leaseElsewhere,
  notBegun,
  replaced,
  replayOf,
  resultOf,
} from "./injection.ts";
import { Process } from "./process.ts";
import { hindranceOf, obstacleOf } from "./obstacle.ts";
import { WayIn, WayOut } from "./lane-sources.ts";
import { ProgressWatch } from "./progress-watch.ts";
import type { RouteParts } from "./route-parts.ts";
import type { Work } from "./work.ts";

/** One route at work: takes deliveries when it has room, and carries each to its end. */
export class Route implements Reader {
  readonly id: string;
  readonly admission: Admission;
  readonly #parts: RouteParts;
  readonly #failures: Failures;
  readonly #outbox: RouteOutbox | undefined;
  readonly #handover: Handover;
  readonly #inFlight: InFlight;
  readonly #ingress: IngressContext;
  readonly #progress: ProgressWatch;
  #retiring = false;
  #stopped = false;
  /** From then on, deliveries already taken may settle, but no redrive begins. */
  #stopping = false;

  constructor(parts: RouteParts, onBug: (error: unknown) => void) {
    this.id = parts.config.id;
    this.#parts = parts;
    this.#failures = new Failures(parts);
    const mode = parts.config.deliveryMode;
    this.#outbox = mode === "shared_outbox" ? new RouteOutbox({ parts, failures: this.#failures }) : undefined;
    this.#handover = this.#outbox?.handover ?? new DirectHold(parts, this.#failures);
    this.admission = new Admission(parts.config.policy, parts.control, this.#handover.leases);
    this.#inFlight = new InFlight({
      parts,
      process: new Process(parts, this.#failures, this.#handover),
      handover: this.#handover,
      failures: this.#failures,
      admission: this.admission,
      onBug,
    });
    this.#progress = this.#watch();
    this.#ingress = { sourceId: parts.config.receiverId, clock: parts.clock, random: parts.random };
  }

  /** Whether messages can pass right now: links are up, the source is present, dead letters can be written. */
  get able(): boolean {
    const { targets, processors } = this.#parts;
    if (this.#retiring || this.#stopped || this.#obstacle !== undefined || !this.#handover.able) return false;
    return ![...targets.values(), ...processors].some(({ strays }) => strays.full);
  }

  get #obstacle(): string | undefined {
    return obstacleOf(this.#parts, this.#failures.dlqFailure, this.#outbox?.obstacle);
  }

  /** Its progress as of now. */
  get progress(): RouteProgress {
    return this.#progress.read();
  }

  #watch(): ProgressWatch {
    const { clock, looks, config, targets, hooks } = this.#parts;
    return new ProgressWatch({
      clock,
      looks,
      sendTimeoutMs: config.policy.sendTimeoutMs,
      wayIn: new WayIn(this.#parts),
      waysOut: [...targets.values()].map((target) => new WayOut(target)),
      standing: () => ({
        obstacle: this.#obstacle ?? hindranceOf(this.#parts),
        full: this.#outbox?.full,
      }),
      changed: (from, now) => hooks.progress(this.id, from, now),
      oldestUnsettledMs: () => this.#inFlight.oldestMs,
    });
  }

  /** The bindings and processors that block the route, because calls that were given up there do not end. */
  get stuck(): readonly string[] {
    const { targets, processors } = this.#parts;
    return [
      ...[...targets.values()].filter(({ strays }) => strays.stuck).map(({ bindingId }) => `binding ${bindingId}`),
      ...processors.filter(({ strays }) => strays.stuck).map(({ id }) => `processor ${id}`),
    ];
  }

  /** Whether another live instance holds the lease of a session that it needs. */
  get elsewhere(): boolean {
    const { sourceLink, targets } = this.#parts;
    if (sourceLink?.lease?.elsewhere === true) return true;
    return [...targets.values()].some(({ link }) => link?.lease?.elsewhere === true);
  }

  /** Whether it could only send under a lease that another instance holds. */
  get isForOthers(): boolean {
    return this.#handover.leases.some(({ elsewhere }) => elsewhere);
  }

  /** The lease that it sends under, if this instance does not hold it. */
  get #missing(): Lease | undefined {
    return this.#handover.leases.find(({ held }) => !held);
  }

  /** Where a message that is not settled yet is on this route. */
  inFlight(envelopeId: string): readonly InFlightPlace[] {
    return this.#inFlight.find(envelopeId);
  }

  /** Whether a redrive through it could succeed now. */
  get standing(): LaneStanding {
    if (this.#retiring || this.#stopped) return { kind: "soon" };
    if (this.paused) return { kind: "waits", why: "route is paused" };
    if (this.#missing !== undefined) return { kind: "waits", why: leaseElsewhere(this.#missing) };
    const links = [...this.#parts.targets.values()].map(({ link }) => link);
    // With several targets, others may be up.
    const down = links.every((link) => link?.connected === false) ? links[0] : undefined;
    // With an outbox, messages wait there.
    if (down === undefined || this.#outbox !== undefined) return { kind: "ready" };
    return { kind: "waits", why: `session ${down.sessionId} is not connected` };
  }

  /** Whether an operator has paused it. */
  get paused(): boolean {
    return this.#parts.control.pause.paused;
  }

  /** The drains of its outbox, to run beside it; none in `direct_hold`. */
  get drains(): readonly Drain[] {
    return [...(this.#outbox?.drains.values() ?? [])];
  }

  /** The outbox has been opened and holds `depth` records for a binding that the accounts did not include. */
  recovered(bindingId: string, depth: number): void {
    this.#outbox?.recovered(bindingId, depth);
  }

  /** An operator moved a record to the DLQ; `own`: it was in this process's accounts. */
  recordLeft(record: OutboxRecord, as: MovedAs, own: boolean): void {
    this.#outbox?.left(record, as, own);
  }

  hasBinding(bindingId: string): boolean {
    return this.#parts.targets.has(bindingId);
  }

  /** Takes and carries deliveries until `signal` aborts; returns when everything in flight has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { intake } = this.#parts;
    this.#progress.begin();
    intake.attach(this);
    await whenAborted(signal);
    intake.detach(this);
    await this.#inFlight.ended();
  }

  /** Takes nothing more, so that its work can end before another route replaces it. */
  retire(): void {
    this.#retiring = true;
    this.#parts.intake.detach(this);
  }

  /** Takes nothing more from its source; resolves when everything taken has ended, or `signal` aborts. */
  async finish(signal: AbortSignal): Promise<void> {
    this.#parts.intake.detach(this);
    if (this.paused) this.#inFlight.cancelParked();
    await orAborted(this.#inFlight.ended(), signal).catch(() => {});
  }

  /** Whether deliveries were abandoned that the source redelivers only when asked to. */
  get left(): boolean {
    return this.#inFlight.left;
  }

  /**
   * Resolves when everything in flight now has ended and, with `emptied`, the outbox is empty, or `signal` aborts.
   * Abandons what a pause holds.
   */
  async quiesce(signal: AbortSignal, emptied: boolean): Promise<void> {
    // When another route will replace this one, redrives may still begin.
    if (!this.#retiring) this.#stopping = true;
    if (this.paused) this.#inFlight.cancelParked();
    const ended = orAborted(this.#inFlight.ended(), signal).catch(() => {});
    if (emptied) {
      await ended;
      await this.#outbox?.emptied(signal);
    }
    await Promise.all([ended, this.#outbox?.quiesce(signal)]);
  }

  /** Abandons everything in flight: nothing of it is settled, dropped, dead-lettered or charged. */
  cancelAll(): void {
    this.#stopped = true;
    this.#inFlight.cancelAll();
  }

  /**
   * Another instance now holds `lease`: abandons the work that needs it, so that the source may redeliver to that
   * instance. Returns whether this route is concerned at all.
   */
  leaveTo(lease: Lease): boolean {
    if (!this.#handover.leases.includes(lease)) return false;
    this.#inFlight.leaveAll();
    return true;
  }

  /** Stops waiting for the outbox; the outcome of pending writes then stays unknown. */
  giveUp(): void {
    this.#outbox?.giveUp();
  }

  [Symbol.dispose](): void {
    this.cancelAll();
    this.#inFlight[Symbol.dispose]();
    this.#handover[Symbol.dispose]();
    this.#progress[Symbol.dispose]();
    this.#parts.failureLog[Symbol.dispose]();
    this.#outbox?.[Symbol.dispose]();
  }

  /** Carries an injected message and returns the result; rejects with the signal's reason when it aborts. */
  async inject(message: SourceMessage, signal: AbortSignal): Promise<InjectResult> {
    const { envelope, error } = this.#normalise(message, "inject");
    return this.#carryInjected({ envelope, refused: error }, signal);
  }

  /** Re-issues a dead letter under a fresh envelope id, to the binding that failed (spec 4.6.4, 4.6.5); for a job, under its own. */
  async replay(entry: DeadLetter, signal: AbortSignal, job?: ReplayRequest): Promise<InjectResult> {
    await this.#outbox?.refuseSecondRedrive(entry.id, signal).catch((error: unknown) => {
      throw signal.aborted ? notBegun() : error;
    });
    const injection = replayOf(entry, this.#parts, job);
    const jobId = job === undefined || job.jobId === NO_JOB ? undefined : job.jobId;
    this.#parts.recent.redrives.add(entry.envelope.id, { envelopeId: injection.envelope.id, jobId });
    return this.#carryInjected(injection, signal, job?.mayBegin);
  }

  /** Whether its outbox holds a record that redrives this dead letter. */
  async redrives(entryId: string, signal: AbortSignal): Promise<boolean> {
    return (await this.#outbox?.redrives(entryId, signal)) === true;
  }

  async #carryInjected(
    injection: Injection,
    signal: AbortSignal,
    mayBegin: () => boolean = () => true,
  ): Promise<InjectResult> {
    const { refused, entry } = injection;
    if (this.paused) throw new OperationError("conflict", "the route is paused: resume it first");
    if (this.#missing !== undefined) throw leasedElsewhere(this.#missing);
    if (this.#retiring) throw replaced();
    await this.admission.take(signal).catch(() => {
      throw notBegun();
    });
    // A dead letter that waited for a slot is still in the DLQ; a caller's message is nowhere else.
    if (this.#stopped || !mayBegin() || (this.#stopping && entry !== undefined)) {
      this.admission.release();
      throw notBegun();
    }
    // While it waited for the slot, another instance may have taken the lease.
    if (this.#missing !== undefined) {
      this.admission.release();
      throw leasedElsewhere(this.#missing);
    }
    using redriven = entry === undefined ? undefined : this.#outbox?.watchEntry(entry.id);
    const work = this.#beginInjected(injection);
    const cancel = (): void => this.#inFlight.cancel(work);
    signal.addEventListener("abort", cancel, { once: true });
    const carried = await this.#inFlight
      .start(work, refused)
      .finally(() => signal.removeEventListener("abort", cancel));
    if (carried === undefined) throw new OperationError("failed", "the inject failed: internal error");
    const outcome: DrainedOutcome =
      this.#outbox === undefined ? carried : await this.#outbox.drained(work.received, carried, redriven, signal);
    return resultOf(work, outcome, signal);
  }

  #beginInjected(injection: Injection): Work {
    try {
      return this.#inFlight.begin({ message: injection.envelope, settle: () => {} }, "injected", injection);
    } catch (thrown) {
      this.admission.release();
      throw thrown;
    }
  }

  /** Starts work on a delivery, whose slot is already taken; gives the slot back when the delivery was taken back. */
  receive(delivery: Delivery): void {
    const begun = this.#begun(delivery);
    if (begun === undefined) this.admission.release();
    else void this.#inFlight.start(begun.work, begun.refused);
  }

  /** `undefined` if nothing is to be done. A delivery that cannot even be read is left for its source to redeliver. */
  #begun(delivery: Delivery): { readonly work: Work; readonly refused: BridgeError | undefined } | undefined {
    const lease = this.#parts.sourceLink?.lease;
    const term = lease?.term;
    const fenced = lease !== undefined && term?.live !== true;
    try {
      if (this.#stopped || fenced || delivery.signal?.aborted === true) return undefined;
      const { envelope, error } = this.#normalise(delivery.message, this.#ingress.sourceId);
      const refused = delivery.undecodable === undefined ? error : undecodable(delivery.undecodable);
      return { work: this.#inFlight.begin(delivery, "received", { envelope }, term), refused };
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
}
