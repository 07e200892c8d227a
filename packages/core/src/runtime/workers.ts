import { type ShutdownBudgets, stopBudget } from "@bridge/config";
import type { Seams } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { partKey } from "../change/part-graph.ts";
import type { Lease } from "../lease/lease.ts";
import { LeaseLost } from "../lease/lease-lost.ts";
import type { Route } from "../route/route.ts";
import { keepLink } from "../session/keep-link.ts";
import type { Link } from "../session/link.ts";
import type { ComponentFailure } from "../view/bridge-view.ts";
import { Background } from "./background.ts";
import { changeSlices } from "./change-slices.ts";
import { closePhases, releasePhases } from "./close-phases.ts";
import { RouteRunner } from "./route-runner.ts";
import type { RuntimeParts } from "./runtime-parts.ts";
import { type PhaseFailure, runPhases, type StopPhase } from "./stop-phases.ts";

/** The part of the quiesce budget reserved for the messages that arrive last, in milliseconds; at most half of the budget. */
const LAST_COME_MS = 5_000;

export interface WorkersOptions extends Seams {
  /** Read when a stop begins. */
  readonly budgets: () => ShutdownBudgets;
  /** Keeps one lease until the signal aborts, and releases it then. */
  readonly keepLease: (lease: Lease, signal: AbortSignal) => Promise<void>;
  /** Called when a lease is lost for good: this process must then end. */
  readonly leaseLost: (lost: LeaseLost) => void;
  /** Called when another instance has taken a lease. */
  readonly leaseLeft: (lease: Lease) => void;
  /** Whether anything may start; checked for each part. */
  readonly running: () => boolean;
}

/** The background work of parts: a runner per route, a keeper per lease and link, and an intake per receiver. */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #runners = new Map<string, RouteRunner>();
  readonly #background = new Map<string, Background>();
  #phases = new Set<string>();

  constructor(options: WorkersOptions) {
    this.#options = options;
  }

  get runners(): readonly RouteRunner[] {
    return [...this.#runners.values()];
  }

  /** The background components that have failed; empty while healthy. */
  get failures(): readonly ComponentFailure[] {
    return [
      ...[...this.#background.values()].flatMap(({ failure }) => failure ?? []),
      ...this.runners.flatMap((runner) => runner.failures),
    ];
  }

  /** While they stop: the current phases. */
  get stoppingIn(): readonly string[] {
    return [...this.#phases];
  }

  route(routeId: string): Route | undefined {
    return this.#runners.get(partKey.route(routeId))?.route;
  }

  /** The runners of the routes in `parts`. */
  runnersOf({ routes }: RuntimeParts): readonly RouteRunner[] {
    return this.runners.filter(({ parts }) => routes.get(partKey.route(parts.config.id)) === parts);
  }

  /**
   * Starts opened parts. Links start last, so that what a broker hands out at once finds a route to take it.
   * @throws Error when a stop has come in between; it ends what has been started so far
   */
  async begin({ leases, links, intakes, routes }: RuntimeParts): Promise<void> {
    const { clock, logger, running, leaseLeft } = this.#options;
    const slices = changeSlices(clock);
    const each = <Part>(parts: ReadonlyMap<string, Part>, begin: (key: string, part: Part) => void): Promise<void> =>
      slices.each(parts, ([key, part]) => {
        if (running()) begin(key, part);
      });
    await each(leases, (key, lease) => {
      lease.onLeft(() => leaseLeft(lease));
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
      this.#run(key, name, (signal) => keepLink(link, this.#options, signal, () => this.#standsBy(link)));
    });
    if (!running()) throw new Error("the runtime was stopped while its parts were started");
  }

  /**
   * Whether everything that arrives over the link could only be sent under leases that others hold. Unchanged while its
   * routes are being replaced.
   */
  #standsBy(link: Link): boolean {
    const readers = this.runners.filter(({ parts }) => parts.sourceLink === link);
    return readers.length === 0 ? link.standsBy : readers.every(({ route }) => route.isForOthers);
  }

  /**
   * Lets unsettled messages settle, and the routes in `emptied` deliver what the outbox holds. Until then sources are
   * still pulled (spec 3.3); what they deliver meanwhile settles afterwards, when nothing more is taken. What is left
   * at the end of the budget is redelivered, which is not a failure.
   */
  async quiesce(runners: readonly RouteRunner[], emptied: ReadonlySet<string> = new Set()): Promise<void> {
    const { clock, budgets } = this.#options;
    this.#phases = new Set(["quiesce"]);
    const { quiesceMs } = stopBudget(budgets());
    using budget = deadline(clock, quiesceMs, new Error("quiesce budget spent"));
    const all = async (wait: (route: Route) => Promise<void>): Promise<void> => {
      const quiet: Promise<void>[] = [];
      await changeSlices(clock).each(runners, ({ route }) => {
        const ended = wait(route);
        ended.catch(() => {});
        quiet.push(ended);
      });
      await Promise.all(quiet);
    };
    // One endless message of one route must not use up the time in which the other routes settle.
    const comingMs = Math.max(quiesceMs / 2, quiesceMs - LAST_COME_MS);
    using coming = deadline(clock, comingMs, new Error("sources have been pulled for long enough"));
    const first = all((route) => route.quiesce(budget.signal, emptied.has(route.id)));
    await orAborted(first, coming.signal).catch(() => {});
    await all((route) => route.finish(budget.signal));
    await first;
  }

  /** Cancels the work of `parts`, waits for its end, and closes them. */
  async end(parts: RuntimeParts, leftMs: () => number): Promise<readonly PhaseFailure[]> {
    const { clock, budgets } = this.#options;
    const { endingMs, lastWordMs } = stopBudget(budgets());
    const runners = this.runnersOf(parts);
    const intakes = [...parts.intakes.keys()].flatMap((key) => this.#background.get(key) ?? []);
    const slices = changeSlices(clock);
    await slices.each(runners, cancel);
    await slices.each(intakes, stop);
    using lastWord = deadline(clock, lastWordMs, new Error("what stores have not answered is given up"));
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
    await changeSlices(clock).each(runners, dispose);
    const ended = (key: string): Promise<void> | undefined => this.#background.get(key)?.ended;
    this.#stop(parts.links);
    const closes = await this.#phased(closePhases(parts, ended));
    // Last, so that the next holder of a lease finds its session closed.
    this.#stop(parts.leases);
    const releases = await this.#phased(releasePhases(parts, ended));
    this.#forget(parts, runners);
    return [...failures, ...closes, ...releases];
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

  #stop(parts: ReadonlyMap<string, unknown>): void {
    for (const key of parts.keys()) this.#background.get(key)?.stop();
  }

  #forget(parts: RuntimeParts, runners: readonly RouteRunner[]): void {
    for (const { parts: own } of runners) this.#runners.delete(partKey.route(own.config.id));
    for (const kind of [parts.leases, parts.links, parts.intakes]) {
      for (const key of kind.keys()) this.#background.delete(key);
    }
  }

  async #phased(phases: readonly StopPhase[]): Promise<readonly PhaseFailure[]> {
    this.#phases = new Set(phases.map(({ name }) => name));
    const { clock } = this.#options;
    return runPhases(clock, phases, ({ name }) => this.#phases.delete(name), changeSlices(clock));
  }
}

// Not closures: an abort signal remembers the functions that listen to it, and through them everything they capture.
const cancel = (runner: RouteRunner): void => runner.cancel();
const stop = (intake: Background): void => intake.stop();
const dispose = (runner: RouteRunner): void => runner[Symbol.dispose]();
