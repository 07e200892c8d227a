import { type DeadLetter, deadline, orAborted, type OutboxRecord, type SourceMessage } from "@bridge/ports";
import { OperationError } from "../operation-error.ts";
import type { InjectResult } from "../route/inject-result.ts";
import { Route } from "../route/route.ts";
import type { Link } from "../session/link.ts";
import { keepSession } from "../session/session-keeper.ts";
import type { ComponentFailure } from "../view/bridge-view.ts";
import type { PartStats } from "../view/stats.ts";
import type { RuntimeParts } from "./build.ts";
import { type PhaseFailure, runPhases, StopError, type StopPhase } from "./stop-phases.ts";
import { TaskGroup } from "./task-group.ts";

/** Opening what receivers listen on. */
const OPEN_TIMEOUT_MS = 30_000;
/** Each close of a part, detached from whoever asked for the stop. */
const CLOSE_CEILING_MS = 5_000;

type RuntimeState = "built" | "running" | "stopping" | "stopped";

const NEXT: Readonly<Record<RuntimeState, readonly RuntimeState[]>> = {
  built: ["running", "stopping"],
  running: ["stopping"],
  stopping: ["stopped"],
  stopped: [],
};

/**
 * One configuration, run once: built, started, stopped. To run again, build another.
 *
 * Stopping is idempotent and tears down once: every caller gets that teardown's outcome. Its order (spec 3.3): what
 * was unsettled when the stop began may settle, within the quiesce budget; then work is cancelled, which settles
 * nothing; then sessions, receivers and senders close side by side, each under its own ceiling.
 */
export class Runtime {
  readonly #parts: RuntimeParts;
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #tasks: TaskGroup;
  readonly #keepers = new Map<Link, Promise<void>>();
  /** Aborted when work is cancelled; receivers and routes run under it. */
  readonly #work = new AbortController();
  /** Aborted when the routes have ended; connections live under it. */
  readonly #sessions = new AbortController();
  #state: RuntimeState = "built";
  #stop: Promise<readonly PhaseFailure[]> | undefined;
  #phases = new Set<string>();

  constructor(parts: RuntimeParts) {
    this.#parts = parts;
    this.#tasks = new TaskGroup(parts.logger);
    const routes = parts.routes.map(
      (part) => new Route(part, (bug) => this.#tasks.fail(`route ${part.config.id}`, bug)),
    );
    this.#routes = new Map(routes.map((route) => [route.id, route]));
  }

  get running(): boolean {
    return this.#state === "running";
  }

  get links(): readonly Link[] {
    return this.#parts.links;
  }

  get routes(): readonly Route[] {
    return [...this.#routes.values()];
  }

  /** The background components that have failed; empty while healthy. */
  get failures(): readonly ComponentFailure[] {
    return this.#tasks.failures;
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
    opening.throwIfAborted();
    try {
      await Promise.all(this.routes.map((route) => route.recover(opening)));
      await this.#openReceivers(opening);
    } catch (error) {
      await this.stop().catch(() => {});
      throw error;
    }
    if (this.#state !== "built") throw new Error("the runtime was stopped while it started");
    this.#enter("running");
    for (const link of this.#parts.links) {
      const name = `session ${link.sessionId} (${link.role})`;
      const kept = keepSession(link, this.#parts, this.#sessions.signal);
      this.#keepers.set(
        link,
        kept.catch((error: unknown) => this.#tasks.fail(name, error)),
      );
    }
    for (const route of this.#routes.values()) {
      for (const drain of route.drains) this.#tasks.spawn(drain.name, () => drain.run(this.#work.signal));
      this.#tasks.spawn(`route ${route.id}`, () => route.run(this.#work.signal));
    }
    const onAbort = (): void => void this.stop().catch(() => {});
    context.addEventListener("abort", onAbort, { once: true, signal: this.#work.signal });
  }

  /** @throws StopError naming the phases that failed */
  async stop(): Promise<void> {
    this.#stop ??= this.#tearDown();
    const failures = await this.#stop;
    if (failures.length > 0) throw new StopError(failures);
  }

  /** @throws OperationError `not_found` for an unknown route */
  inject(routeId: string, message: SourceMessage, signal: AbortSignal): Promise<InjectResult> {
    return this.#route(routeId, "route not found").inject(message, signal);
  }

  /** @throws OperationError `not_found` when the entry's route or binding is not configured any more (spec 4.6.8) */
  replay(entry: DeadLetter, signal: AbortSignal): Promise<InjectResult> {
    const route = this.#route(entry.routeId, "route or binding not found");
    if (entry.bindingId !== "" && !route.hasBinding(entry.bindingId)) {
      throw new OperationError("not_found", "route or binding not found");
    }
    return route.replay(entry, signal);
  }

  /** A record was taken out of the outbox by an operator. */
  left(record: OutboxRecord): void {
    this.#routes.get(record.routeId)?.left(record);
  }

  partStats(): readonly PartStats[] {
    const { links, receivers, senders } = this.#parts;
    return [
      ...links.map(({ sessionId, role, session }) => ({
        part: "session" as const,
        id: `${sessionId}/${role}`,
        counters: session.counters?.() ?? {},
      })),
      ...[...receivers].map(([id, part]) => ({ part: "receiver" as const, id, counters: part.counters?.() ?? {} })),
      ...[...senders].map(([id, part]) => ({ part: "sender" as const, id, counters: part.counters?.() ?? {} })),
    ];
  }

  #route(routeId: string, missing: string): Route {
    const route = this.#routes.get(routeId);
    if (route === undefined) throw new OperationError("not_found", missing);
    return route;
  }

  #enter(next: RuntimeState): void {
    if (!NEXT[this.#state].includes(next)) throw new Error(`a runtime that is ${this.#state} cannot become ${next}`);
    this.#state = next;
  }

  async #openReceivers(opening: AbortSignal): Promise<void> {
    using bound = deadline(OPEN_TIMEOUT_MS, new Error(`a receiver was not open after ${OPEN_TIMEOUT_MS} ms`));
    const signal = AbortSignal.any([opening, bound.signal]);
    for (const receiver of this.#parts.receivers.values()) {
      if (receiver.open !== undefined) await orAborted(receiver.open(signal), signal);
    }
  }

  async #tearDown(): Promise<readonly PhaseFailure[]> {
    const wasRunning = this.#state === "running";
    this.#enter("stopping");
    const { drainTimeoutMs, quiesceTimeoutMs } = this.#parts.budgets();
    const startedAt = this.#parts.clock.monotonic();
    this.#phases = new Set(["quiesce"]);
    if (wasRunning) await this.#quiesce(Math.min(quiesceTimeoutMs, drainTimeoutMs));

    for (const route of this.#routes.values()) route.cancelAll();
    this.#work.abort();
    const left = drainTimeoutMs - (this.#parts.clock.monotonic() - startedAt);
    const failures = await this.#run([
      {
        name: "background components",
        ceilingMs: Math.max(CLOSE_CEILING_MS, left),
        run: () => this.#tasks.join(),
        running: () => this.#tasks.running,
      },
    ]);
    for (const route of this.#routes.values()) route[Symbol.dispose]();
    this.#sessions.abort();
    const closes = await this.#run(this.#closes());
    this.#enter("stopped");
    return [...failures, ...closes];
  }

  async #run(phases: readonly StopPhase[]): Promise<readonly PhaseFailure[]> {
    this.#phases = new Set(phases.map(({ name }) => name));
    return runPhases(phases, ({ name }) => this.#phases.delete(name));
  }

  /** Lets what is unsettled now settle. What is left at the end of the budget falls to redelivery; it is no failure. */
  async #quiesce(budgetMs: number): Promise<void> {
    using budget = deadline(budgetMs, new Error("quiesce budget spent"));
    await Promise.all(this.routes.map((route) => route.quiesce(budget.signal)));
  }

  #closes(): readonly StopPhase[] {
    const { links, receivers, senders, processors } = this.#parts;
    return [
      ...links.map((link) => ({
        name: link.managed ? "session manager" : `unmanaged session ${link.sessionId}`,
        ceilingMs: CLOSE_CEILING_MS,
        run: async () => {
          await this.#keepers.get(link);
          await link.session[Symbol.asyncDispose]();
        },
      })),
      ...[...receivers].map(([id, receiver]) => close(`receiver ${id}`, receiver)),
      ...[...senders].map(([id, sender]) => close(`sender ${id}`, sender)),
      ...processors.map(({ id, processor }) => close(`processor ${id}`, processor)),
    ];
  }
}

function close(name: string, part: Partial<AsyncDisposable>): StopPhase {
  return { name, ceilingMs: CLOSE_CEILING_MS, run: async () => part[Symbol.asyncDispose]?.() };
}
