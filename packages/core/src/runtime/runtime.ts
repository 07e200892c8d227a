import { type ShutdownBudgets, stopBudget } from "@bridge/config";
import { type DeadLetter, type OutboxRecord, type Seams, type SourceMessage } from "@bridge/ports";
import { deadline, orAborted, type Slices } from "@bridge/ports/internal";
import { partKey } from "../change/part-graph.ts";
import { OperationError } from "../operation-error.ts";
import type { Lease } from "../lease/lease.ts";
import { LeaseLost } from "../lease/lease-lost.ts";
import type { InjectResult } from "../route/inject-result.ts";
import { replaced } from "../route/injection.ts";
import type { Route } from "../route/route.ts";
import type { Link } from "../session/link.ts";
import { keepLink } from "../session/keep-link.ts";
import type { ComponentFailure } from "../view/bridge-view.ts";
import type { PartStats } from "../view/stats.ts";
import { countersOf } from "./counters-of.ts";
import { Background } from "./background.ts";
import { NO_PARTS, type RuntimeParts } from "./build.ts";
import { changeSlices } from "./change-slices.ts";
import { closePhases, releasePhases } from "./close-phases.ts";
import { common, without } from "./part-sets.ts";
import { RouteRunner } from "./route-runner.ts";
import { type PhaseFailure, runPhases, StopError, type StopPhase } from "./stop-phases.ts";
import { stopped } from "../stopped.ts";

/** Opening what receivers listen on. */
const OPEN_TIMEOUT_MS = 30_000;

type RuntimeState = "built" | "running" | "stopping" | "stopped";

const NEXT: Readonly<Record<RuntimeState, readonly RuntimeState[]>> = {
  built: ["running", "stopping"],
  running: ["stopping"],
  stopping: ["stopped"],
  stopped: [],
};

export interface RuntimeOptions extends Seams {
  readonly parts: RuntimeParts;
  /** Read when a stop begins. */
  readonly budgets: () => ShutdownBudgets;
  /** Keeps one lease until the signal aborts, and releases it then. */
  readonly keepLease: (lease: Lease, signal: AbortSignal) => Promise<void>;
  /** Told when a lease is lost for good: this process must not go on. */
  readonly leaseLost: (lost: LeaseLost) => void;
}

/**
 * Parts at work. Started once and stopped once; in between, some can be replaced while the others run: {@link retire}
 * stops what goes, {@link adopt} starts what comes. One of them at a time.
 *
 * Stopping is idempotent and tears down once: every caller gets that teardown's outcome. Its order (spec 3.3): what
 * was unsettled when the stop began may settle, within the quiesce budget; then work is cancelled, which settles
 * nothing; then sessions, receivers and senders close side by side, each under its own ceiling.
 *
 * All of that is done in slices, because there are thousands of routes: those that have not been reached yet go on.
 */
export class Runtime {
  /** Without the parts it began with, which changes replace. */
  readonly #options: Omit<RuntimeOptions, "parts">;
  readonly #runners = new Map<string, RouteRunner>();
  readonly #background = new Map<string, Background>();
  readonly #stopped = new AbortController();
  #parts: RuntimeParts;
  #state: RuntimeState = "built";
  /** A retirement or an adoption under way. */
  #change: Promise<unknown> | undefined;
  #stop: Promise<readonly PhaseFailure[]> | undefined;
  #phases = new Set<string>();

  constructor({ parts, ...options }: RuntimeOptions) {
    this.#options = options;
    this.#parts = parts;
  }

  get running(): boolean {
    return this.#state === "running";
  }

  /** What is at work. */
  get parts(): RuntimeParts {
    return this.#parts;
  }

  get links(): readonly Link[] {
    return [...this.#parts.links.values()];
  }

  /** A route that is at work. */
  route(routeId: string): Route | undefined {
    return this.#runners.get(partKey.route(routeId))?.route;
  }

  /** The background components that have failed; empty while healthy. */
  get failures(): readonly ComponentFailure[] {
    return [
      ...[...this.#background.values()].flatMap(({ failure }) => failure ?? []),
      ...[...this.#runners.values()].flatMap((runner) => runner.failures),
    ];
  }

  /** While it stops: the phases that it is in. */
  get stoppingIn(): readonly string[] {
    return [...this.#phases];
  }

  /**
   * Opens the receivers' listeners and starts everything else in the background: a broker that is away does not keep
   * the bridge from starting. When `context` aborts later, the runtime stops by itself, under the same budgets.
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
      await this.#begin(parts);
    } catch (error) {
      await this.stop().catch(() => {});
      throw error;
    }
  }

  /**
   * Stops and closes what is not in `next`: its routes take nothing more, what they have may settle, and the rest is
   * cancelled and falls to redelivery. Everything else runs on. The routes in `emptied` go on delivering what is in the
   * outbox until nothing is, within the same time.
   * @throws StopError naming the phases that failed
   */
  retire(next: RuntimeParts, emptied: ReadonlySet<string> = new Set()): Promise<void> {
    return this.#changing(async () => {
      const gone = without(this.#parts, next);
      const runners = this.#runnersOf(gone);
      const end = this.#drainEnd();
      await this.#slices().each(runners, retire);
      await this.#quiesce(runners, emptied);
      const failures = await this.#end(gone, end);
      this.#parts = common(this.#parts, next);
      this.#handBack(runners.filter(({ route }) => route.left));
      if (failures.length > 0) throw new StopError(failures);
    });
  }

  /**
   * Opens and starts what is in `next` and not at work. Rejects, with that closed again, when something of it cannot be
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
        const failures = await this.#end(added, () => 0);
        this.#parts = before;
        if (failures.length > 0) throw new StopError([{ phase: "opening", error }, ...failures]);
        throw error;
      }
      // Only now: what its routes took before a failure would be left behind in stores that the former parts do not have.
      await this.#begin(added);
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
    return this.#found(routeId, "route not found").inject(message, signal);
  }

  /** @throws OperationError `not_found` when the entry's route or binding is not configured any more (spec 4.6.8) */
  replay(entry: DeadLetter, signal: AbortSignal): Promise<InjectResult> {
    const route = this.#found(entry.routeId, "route or binding not found");
    if (entry.bindingId !== "" && !route.hasBinding(entry.bindingId)) {
      throw new OperationError("not_found", "route or binding not found");
    }
    return route.replay(entry, signal);
  }

  /** A record was taken out of the outbox by an operator; `own` when it was in our books. */
  recordLeft(record: OutboxRecord, own: boolean): void {
    this.route(record.routeId)?.recordLeft(record, own);
  }

  partStats(): readonly PartStats[] {
    const { links, intakes, senders } = this.#parts;
    const { logger } = this.#options;
    return [
      ...[...links.values()].map(({ sessionId, role, session }) => ({
        part: "session" as const,
        id: `${sessionId}/${role}`,
        counters: countersOf(session, `session ${sessionId}`, logger),
      })),
      ...[...intakes.values()].map(({ id, receiver }) => ({
        part: "receiver" as const,
        id,
        counters: countersOf(receiver, `receiver ${id}`, logger),
      })),
      ...[...senders].map(([key, part]) => ({
        part: "sender" as const,
        id: key.slice("sender ".length),
        counters: countersOf(part, key, logger),
      })),
    ];
  }

  #found(routeId: string, missing: string): Route {
    const route = this.route(routeId);
    if (route !== undefined) return route;
    throw this.#change === undefined ? new OperationError("not_found", missing) : replaced();
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

  #runnersOf({ routes }: RuntimeParts): readonly RouteRunner[] {
    return [...this.#runners.values()].filter(({ parts }) => routes.get(partKey.route(parts.config.id)) === parts);
  }

  async #open(parts: RuntimeParts, opening: AbortSignal): Promise<void> {
    opening.throwIfAborted();
    using bound = deadline(OPEN_TIMEOUT_MS, new Error(`a receiver was not open after ${OPEN_TIMEOUT_MS} ms`));
    const signal = AbortSignal.any([opening, bound.signal]);
    const slices = this.#slices();
    for (const { receiver } of parts.intakes.values()) {
      if (receiver.open !== undefined) await orAborted(receiver.open(signal), signal);
      if (slices.over) await slices.next();
    }
  }

  /**
   * Starts what is open. Links come last, so that what a broker hands out at once finds whoever takes it.
   * @throws Error when a stop has come in between, which ends what has been started by then
   */
  async #begin({ leases, links, intakes, routes }: RuntimeParts): Promise<void> {
    const { logger } = this.#options;
    const slices = this.#slices();
    const each = <Part>(parts: ReadonlyMap<string, Part>, begin: (key: string, part: Part) => void): Promise<void> =>
      slices.each(parts, ([key, part]) => {
        if (this.running) begin(key, part);
      });
    await each(leases, (key, lease) => {
      lease.onLeft(() => this.#leave(lease));
      this.#run(key, key, (signal) => this.#keepLease(lease, signal));
    });
    await each(intakes, (key, intake) => this.#run(key, key, (signal) => intake.run(signal)));
    await each(routes, (key, parts) => {
      const runner = new RouteRunner(parts, logger);
      this.#runners.set(key, runner);
      runner.start();
    });
    await each(links, (key, link) => {
      const name = `session ${link.sessionId} (${link.role})`;
      this.#run(key, name, (signal) => keepLink(link, this.#options, signal));
    });
    if (!this.running) throw new Error("the runtime was stopped while its parts were started");
  }

  async #keepLease(lease: Lease, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.keepLease(lease, signal);
    } catch (error) {
      if (error instanceof LeaseLost) this.#options.leaseLost(error);
      throw error;
    }
  }

  #run(key: string, name: string, run: (signal: AbortSignal) => Promise<void>): void {
    this.#background.set(key, new Background(name, run, this.#options.logger));
  }

  async #tearDown(): Promise<readonly PhaseFailure[]> {
    const wasRunning = this.#state === "running";
    this.#enter("stopping");
    const end = this.#drainEnd();
    this.#phases = new Set(["quiesce"]);
    if (wasRunning) {
      await Promise.all([this.#quiesce([...this.#runners.values()]), this.#change]);
    }
    this.#stopped.abort(stopped());
    const failures = await this.#end(this.#parts, end);
    this.#parts = NO_PARTS;
    this.#enter("stopped");
    return failures;
  }

  /** Lets what is unsettled now settle. What is left at the end of the budget falls to redelivery; it is no failure. */
  async #quiesce(runners: readonly RouteRunner[], emptied: ReadonlySet<string> = new Set()): Promise<void> {
    using budget = deadline(stopBudget(this.#options.budgets()).quiesceMs, new Error("quiesce budget spent"));
    const quiet: Promise<void>[] = [];
    await this.#slices().each(runners, ({ route }) => {
      const ended = route.quiesce(budget.signal, emptied.has(route.id));
      ended.catch(() => {});
      quiet.push(ended);
    });
    await Promise.all(quiet);
  }

  /** What is left of `drain_timeout`, which begins now, in milliseconds. */
  #drainEnd(): () => number {
    const { clock, budgets } = this.#options;
    const endsAt = clock.monotonic() + budgets().drainTimeoutMs;
    return () => endsAt - clock.monotonic();
  }

  /** Cancels what `parts` are doing, waits for its end, and closes them. */
  async #end(parts: RuntimeParts, leftMs: () => number): Promise<readonly PhaseFailure[]> {
    const { endingMs, lastWordMs } = stopBudget(this.#options.budgets());
    const runners = this.#runnersOf(parts);
    const intakes = [...parts.intakes.keys()].flatMap((key) => this.#background.get(key) ?? []);
    const slices = this.#slices();
    await slices.each(runners, cancel);
    await slices.each(intakes, stop);
    using lastWord = deadline(lastWordMs, new Error("what stores have not answered is given up"));
    lastWord.signal.addEventListener("abort", () => runners.forEach((runner) => runner.giveUp()), { once: true });
    const failures = await this.#phased([
      {
        name: "background components",
        ceilingMs: Math.max(endingMs, leftMs()),
        run: async () => {
          await Promise.all([...runners.map((runner) => runner.join()), ...intakes.map((intake) => intake.ended)]);
        },
        running: () => [
          ...runners.flatMap((runner) => runner.running),
          ...intakes.filter((intake) => intake.running).map((intake) => intake.name),
        ],
      },
    ]);
    await this.#slices().each(runners, dispose);
    for (const key of parts.links.keys()) this.#background.get(key)?.stop();
    const closes = await this.#phased(closePhases(parts, (key) => this.#background.get(key)?.ended));
    // Last, so that whoever takes a lease finds its session closed.
    for (const key of parts.leases.keys()) this.#background.get(key)?.stop();
    const releases = await this.#phased(releasePhases(parts, (key) => this.#background.get(key)?.ended));
    this.#forget(parts, runners);
    return [...failures, ...closes, ...releases];
  }

  #forget(parts: RuntimeParts, runners: readonly RouteRunner[]): void {
    for (const { parts: own } of runners) this.#runners.delete(partKey.route(own.config.id));
    for (const kind of [parts.leases, parts.links, parts.intakes]) {
      for (const key of kind.keys()) this.#background.delete(key);
    }
  }

  async #phased(phases: readonly StopPhase[]): Promise<readonly PhaseFailure[]> {
    this.#phases = new Set(phases.map(({ name }) => name));
    return runPhases(phases, ({ name }) => this.#phases.delete(name), this.#slices());
  }

  /** A lease is another's by now: so is what sources have handed us for routes that can only send under it. */
  #leave(lease: Lease): void {
    this.#handBack([...this.#runners.values()].filter(({ route }) => route.leaveTo(lease)));
  }

  /**
   * What was abandoned of receivers that stay has to come again: from a source without a session when it is asked anew,
   * over a session on another connection.
   */
  #handBack(runners: readonly RouteRunner[]): void {
    const [links, intakes] = [new Set(this.#parts.links.values()), new Set(this.#parts.intakes.values())];
    for (const { parts } of runners) {
      if (!intakes.has(parts.intake)) continue;
      parts.intake.restart();
      if (parts.sourceLink !== undefined && links.has(parts.sourceLink)) parts.sourceLink.cut?.();
    }
  }
}

// Not in closures: what aborts remembers the functions that called it, and with these all that they see.
const retire = ({ route }: RouteRunner): void => route.retire();
const cancel = (runner: RouteRunner): void => runner.cancel();
const stop = (intake: Background): void => intake.stop();
const dispose = (runner: RouteRunner): void => runner[Symbol.dispose]();
