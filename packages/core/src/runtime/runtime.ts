import { type DeadLetter, type OutboxRecord, type SourceMessage } from "@bridge/ports";
import { type Slices } from "@bridge/ports/internal";
import type { LaneStanding } from "../dlq-job/job-parts.ts";
import type { ReplayRequest } from "../dlq-job/replay-id.ts";
import { OperationError } from "../operation-error.ts";
import type { MovedAs } from "../outbox/dead-letter-record.ts";
import { routeNotFound } from "../route-not-found.ts";
import type { InjectResult } from "../route/inject-result.ts";
import { notBegun, replaced } from "../route/injection.ts";
import type { InFlightPlace } from "../route/in-flight.ts";
import type { Route } from "../route/route.ts";
import type { Link } from "../session/link.ts";
import { stopped } from "../stopped.ts";
import type { ComponentFailure } from "../view/bridge-view.ts";
import type { PartStats } from "../view/stats.ts";
import { changeSlices } from "./change-slices.ts";
import { handBack } from "./hand-back.ts";
import { openReceivers } from "./open-receivers.ts";
import { common, without } from "./part-sets.ts";
import { partStats } from "./part-stats.ts";
import type { RouteRunner } from "./route-runner.ts";
import { NO_PARTS, type RuntimeParts } from "./runtime-parts.ts";
import { type PhaseFailure, StopError } from "./stop-phases.ts";
import { Workers, type WorkersOptions } from "./workers.ts";

type RuntimeState = "built" | "running" | "stopping" | "stopped";

const NEXT: Readonly<Record<RuntimeState, readonly RuntimeState[]>> = {
  built: ["running", "stopping"],
  running: ["stopping"],
  stopping: ["stopped"],
  stopped: [],
};

export interface RuntimeOptions extends Omit<WorkersOptions, "leaseLeft" | "running"> {
  readonly parts: RuntimeParts;
}

/**
 * Parts at work. Starts once and stops once. In between, some parts can be replaced while the others run: {@link
 * retire} stops the old ones, {@link adopt} starts the new ones. Only one such change runs at a time.
 *
 * Stopping is idempotent: it tears down once, and every caller gets the outcome. Its order (spec 3.3): within the
 * quiesce budget, what was unsettled when the stop began may settle, then what was taken meanwhile; then work is
 * cancelled, which settles nothing; then sessions, receivers and senders close in parallel, each within its own limit.
 *
 * All of that runs in slices, because there may be thousands of routes: those not reached yet go on working.
 */
export class Runtime {
  /** Without the initial parts, which changes replace. */
  readonly #options: Omit<RuntimeOptions, "parts">;
  readonly #workers: Workers;
  readonly #stopped = new AbortController();
  #parts: RuntimeParts;
  #state: RuntimeState = "built";
  /** The retirement or adoption in progress. */
  #change: Promise<unknown> | undefined;
  /** Whether parts have retired and none have been adopted since: a missing part may be back in a moment. */
  #retired = false;
  #stop: Promise<readonly PhaseFailure[]> | undefined;

  constructor({ parts, ...options }: RuntimeOptions) {
    this.#options = options;
    this.#parts = parts;
    this.#workers = new Workers({
      ...options,
      running: () => this.running,
      // Deliveries for routes that can only send under this lease go to its new holder.
      leaseLeft: (lease) => this.#handBack(this.#workers.runners.filter(({ route }) => route.leaveTo(lease))),
    });
  }

  get running(): boolean {
    return this.#state === "running";
  }

  /** The parts at work. */
  get parts(): RuntimeParts {
    return this.#parts;
  }

  get links(): readonly Link[] {
    return [...this.#parts.links.values()];
  }

  /** A route at work. */
  route(routeId: string): Route | undefined {
    return this.#workers.route(routeId);
  }

  /** Where an unsettled message is. */
  inFlight(envelopeId: string): readonly InFlightPlace[] {
    return this.#workers.runners.flatMap(({ route }) => route.inFlight(envelopeId));
  }

  /** The background components that have failed; empty while healthy. */
  get failures(): readonly ComponentFailure[] {
    return this.#workers.failures;
  }

  /** While it stops: the current phases. */
  get stoppingIn(): readonly string[] {
    return this.#workers.stoppingIn;
  }

  /**
   * Opens the receivers' listeners and starts everything else in the background: a broker that is down does not keep
   * the bridge from starting. When `context` aborts later, the runtime stops by itself, within the same budgets.
   * Rejects, with everything closed again, when a receiver cannot be opened or `opening` aborts before that is done.
   */
  async start(context: AbortSignal, opening: AbortSignal = context): Promise<void> {
    const parts = this.#parts;
    try {
      if (this.#state !== "built") throw new Error(`a runtime that is ${this.#state} cannot start`);
      await this.#open(parts, opening);
      if (this.#state !== "built") throw new Error("the runtime was stopped while it started");
      this.#enter("running");
      const onAbort = (): void => void this.stop().catch(() => {});
      context.addEventListener("abort", onAbort, { once: true, signal: this.#stopped.signal });
      await this.#workers.begin(parts);
    } catch (error) {
      await this.stop().catch(() => {});
      throw error;
    }
  }

  /**
   * Stops and closes what is not in `next`. Its routes take nothing more, their messages may settle, and the rest is
   * cancelled and left to redelivery. Everything else runs on. The routes in `emptied` go on delivering within the same
   * time until their outbox is empty.
   * @throws StopError naming the phases that failed
   */
  retire(next: RuntimeParts, emptied: ReadonlySet<string> = new Set()): Promise<void> {
    return this.#changing(async () => {
      this.#retired = true;
      const gone = without(this.#parts, next);
      const runners = this.#workers.runnersOf(gone);
      const end = this.#drainEnd();
      await this.#slices().each(runners, retire);
      await this.#workers.quiesce(runners, emptied);
      const failures = await this.#workers.end(gone, end);
      this.#parts = common(this.#parts, next);
      this.#handBack(runners.filter(({ route }) => route.left));
      if (failures.length > 0) throw new StopError(failures);
    });
  }

  /**
   * Opens and starts what is in `next` and not at work. Rejects, with that closed again, when something cannot be
   * opened or `opening` aborts before that is done.
   * @throws StopError when it could not be closed again
   */
  adopt(next: RuntimeParts, opening: AbortSignal): Promise<void> {
    return this.#changing(async () => {
      const before = this.#parts;
      const added = without(next, before);
      this.#parts = next;
      try {
        await this.#open(added, opening);
        if (!this.running) throw new Error("the runtime was stopped while its parts were replaced");
      } catch (error) {
        const failures = await this.#workers.end(added, () => 0);
        this.#parts = before;
        if (failures.length > 0) throw new StopError([{ phase: "opening", error }, ...failures]);
        throw error;
      }
      // Only now: what the new routes took before a failure would be stranded in stores that the former parts do not have.
      await this.#workers.begin(added);
      this.#retired = false;
      // Some new routes can only send at another instance. What sources that stay have handed out for them belongs there.
      const forOthers = this.#workers
        .runnersOf(added)
        .filter(({ route, parts }) => route.isForOthers && parts.sourceLink?.standsBy !== true);
      handBack(forOthers, common(before, next));
    });
  }

  /** @throws StopError naming the phases that failed */
  async stop(): Promise<void> {
    this.#stop ??= this.#tearDown();
    const failures = await this.#stop;
    if (failures.length > 0) throw new StopError(failures);
  }

  /** @throws OperationError `not_found` for an unknown route, `unavailable` for one that is being replaced */
  inject(routeId: string, message: SourceMessage, signal: AbortSignal): Promise<InjectResult> {
    const missing = (): OperationError =>
      routeNotFound(
        routeId,
        this.#parts.routes.values().map(({ config }) => config.id),
      );
    return this.#found(routeId, missing).inject(message, signal);
  }

  /** @throws OperationError `not_found` when the entry's route or binding is not configured any more (spec 4.6.8) */
  async replay(entry: DeadLetter, signal: AbortSignal, job?: ReplayRequest): Promise<InjectResult> {
    if (!this.running) throw notBegun();
    const route = this.#found(entry.routeId, entryNotFound);
    if (entry.bindingId !== "" && !route.hasBinding(entry.bindingId)) throw entryNotFound();
    return route.replay(entry, signal, job);
  }

  /** Whether a redrive on the route could succeed now; on a missing route it fails at once. */
  standing(routeId: string): LaneStanding {
    return this.route(routeId)?.standing ?? { kind: this.#isChanging ? "soon" : "ready" };
  }

  /** An operator took a record out of the outbox; `own`: it was in this process's accounts. */
  recordLeft(record: OutboxRecord, as: MovedAs, own: boolean): void {
    this.route(record.routeId)?.recordLeft(record, as, own);
  }

  partStats(): readonly PartStats[] {
    return partStats(this.#parts, this.#options.logger);
  }

  #found(routeId: string, missing: () => OperationError): Route {
    const route = this.route(routeId);
    if (route !== undefined) return route;
    throw this.#isChanging ? replaced() : missing();
  }

  get #isChanging(): boolean {
    return this.#retired || this.#change !== undefined;
  }

  #enter(next: RuntimeState): void {
    if (!NEXT[this.#state].includes(next)) throw new Error(`a runtime that is ${this.#state} cannot become ${next}`);
    this.#state = next;
  }

  async #changing(change: () => Promise<void>): Promise<void> {
    if (!this.running) throw new Error(`the parts of a runtime that is ${this.#state} cannot be replaced`);
    if (this.#change !== undefined) throw new Error("the parts of the runtime are being replaced already");
    const changing = change();
    this.#change = changing.catch(() => {});
    try {
      await changing;
    } finally {
      this.#change = undefined;
    }
  }

  #slices(): Slices {
    return changeSlices(this.#options.clock);
  }

  #open(parts: RuntimeParts, opening: AbortSignal): Promise<void> {
    return openReceivers(parts, this.#options.clock, this.#slices(), opening);
  }

  async #tearDown(): Promise<readonly PhaseFailure[]> {
    this.#enter("stopping");
    const end = this.#drainEnd();
    await Promise.all([this.#workers.quiesce(this.#workers.runners), this.#change]);
    this.#stopped.abort(stopped());
    const failures = await this.#workers.end(this.#parts, end);
    this.#parts = NO_PARTS;
    this.#enter("stopped");
    return failures;
  }

  /** Starts `drain_timeout`, and returns a function that gives the remaining milliseconds. */
  #drainEnd(): () => number {
    const { clock, budgets } = this.#options;
    const endsAt = clock.monotonic() + budgets().drainTimeoutMs;
    return () => endsAt - clock.monotonic();
  }

  #handBack(runners: readonly RouteRunner[]): void {
    handBack(runners, this.#parts);
  }
}

// Not closures: an abort signal remembers the functions that listen to it, and through them everything they capture.
const retire = ({ route }: RouteRunner): void => route.retire();

function entryNotFound(): OperationError {
  return new OperationError("not_found", "route or binding not found");
}
