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
  /** What was taken by then may settle, and no dead letter begins. */
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
      admission: this.admission,
      onBug,
    });
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

  /** Whether what it takes could only be sent under a lease that another instance has. */
  get isForOthers(): boolean {
    return this.#handover.leases.some(({ elsewhere }) => elsewhere);
  }

  /** The lease that it sends under, while this instance does not hold it. */
  get #missing(): Lease | undefined {
    return this.#handover.leases.find(({ held }) => !held);
  }

  /** Where a message is here that is not settled yet. */
  inFlight(envelopeId: string): readonly InFlightPlace[] {
    return this.#inFlight.find(envelopeId);
  }

  /** Whether dead letters could be redriven through it now. */
  get standing(): LaneStanding {
    if (this.#retiring || this.#stopped) return { kind: "soon" };
    if (this.paused) return { kind: "waits", why: "route is paused" };
    if (this.#missing !== undefined) return { kind: "waits", why: leaseElsewhere(this.#missing) };
    const links = [...this.#parts.targets.values()].map(({ link }) => link);
    // Of several targets others may be up.
    const down = links.every((link) => link?.connected === false) ? links[0] : undefined;
    // What goes into an outbox waits there.
    if (down === undefined || this.#outbox !== undefined) return { kind: "ready" };
    return { kind: "waits", why: `session ${down.sessionId} is not connected` };
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
  recordLeft(record: OutboxRecord, as: MovedAs, own: boolean): void {
    this.#outbox?.left(record, as, own);
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
    await this.#inFlight.ended();
  }

  /** Takes nothing more, so that what it has can end before another route takes its place. */
  retire(): void {
    this.#retiring = true;
    this.#parts.intake.detach(this);
  }

  /** Takes nothing more from its source; resolves when what it has taken has ended, or `signal` aborts. */
  async finish(signal: AbortSignal): Promise<void> {
    this.#parts.intake.detach(this);
    if (this.paused) this.#inFlight.cancelParked();
    await orAborted(this.#inFlight.ended(), signal).catch(() => {});
  }

  /** Whether deliveries of its source were abandoned, which the source would only hand out again if it were told to. */
  get left(): boolean {
    return this.#inFlight.left;
  }

  /**
   * Resolves when everything that is in flight now has ended, with `emptied` what is in the outbox too, or `signal`
   * aborts. What a pause holds is abandoned.
   */
  async quiesce(signal: AbortSignal, emptied: boolean): Promise<void> {
    // What another route goes on with may still come in.
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
   * Another instance sends by now what needs `lease`: abandons what is here for it, so that the source may hand it to
   * whoever can. Returns whether that concerns this route at all.
   */
  leaveTo(lease: Lease): boolean {
    if (!this.#handover.leases.includes(lease)) return false;
    this.#inFlight.leaveAll();
    return true;
  }

  /** Waits for the outbox no more; what has been written to it is not known then. */
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

  /** Carries an injected message and tells what became of it; rejects with the signal's reason when it aborts. */
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

  /** Whether its outbox has a record that redrives this dead letter. */
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
    // A dead letter that has waited for room is where it was; what a caller has brought is nowhere else.
    if (this.#stopped || !mayBegin() || (this.#stopping && entry !== undefined)) {
      this.admission.release();
      throw notBegun();
    }
    // What had the room may have been left to whoever has the lease by now.
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

  /** `undefined` when nothing is to be done for it. One that cannot even be read is its source's to hand out again. */
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
