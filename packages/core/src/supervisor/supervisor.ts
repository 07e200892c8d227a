import type { BridgeConfig, Registry } from "@bridge/config";
import {
  type DlqAdmin,
  type DlqStore,
  type Logger,
  orAborted,
  type OutboxRecord,
  type OutboxStore,
  type Random,
  type Clock,
  type Seams,
  silentLogger,
  type SourceMessage,
  systemClock,
  systemRandom,
} from "@bridge/ports";
import { Accounts } from "../accounting/accounts.ts";
import { Controls } from "../control/controls.ts";
import { unaccounted } from "../accounting/leg-account.ts";
import { redrive } from "../dlq/redrive.ts";
import type { RedriveResult } from "../dlq/redrive-result.ts";
import { OperationError } from "../operation-error.ts";
import type { InjectResult } from "../route/inject-result.ts";
import { deadLetterRecords, type MoveResult } from "../outbox/dead-letter-record.ts";
import { build } from "../runtime/build.ts";
import { Runtime } from "../runtime/runtime.ts";
import { runPhases, StopError } from "../runtime/stop-phases.ts";
import type { BridgeView } from "../view/bridge-view.ts";
import type { BridgeStats } from "../view/stats.ts";
import { SessionCounts } from "../view/session-counts.ts";
import { viewOf } from "../view/view-of.ts";
import type { Supervisor, SupervisorState, TerminalCause } from "./contract.ts";
import { Serial } from "./serial.ts";
import { StorePool } from "./store-pool.ts";
import { mayFollow } from "./transitions.ts";

export interface SupervisorOptions {
  /** As validated by `parseConfig` or `validateConfig` with the same registry. */
  readonly config: BridgeConfig;
  readonly registry: Registry;
  /** Default: says nothing. */
  readonly logger?: Logger;
  /** Default: the machine's time. */
  readonly clock?: Clock;
  /** Default: the platform's randomness. */
  readonly random?: Random;
}

/** A bridge for one configuration, not started: nothing is opened before {@link Supervisor.start}. */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  return new RuntimeSupervisor(options.config, options.registry, {
    logger: options.logger ?? silentLogger,
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom(),
  });
}

/** Owns the one current runtime: one state, changed in one function that asserts; the machine is in transitions.ts. */
class RuntimeSupervisor implements Supervisor {
  readonly instanceId: string;
  readonly #config: BridgeConfig;
  readonly #registry: Registry;
  readonly #seams: Seams;
  readonly #stores: StorePool;
  readonly #accounts = new Accounts();
  readonly #controls: Controls;
  readonly #sessionCounts = new SessionCounts();
  readonly #requests = new Serial();
  readonly #redriving = new Set<string>();
  /** The root context: aborted when the process is to end. */
  readonly #root = new AbortController();
  readonly #terminated = Promise.withResolvers<SupervisorState & { kind: "terminal" }>();
  #state: SupervisorState = { kind: "unwired" };
  #runtime: Runtime | undefined;
  #shutdown: Promise<void> | undefined;

  constructor(config: BridgeConfig, registry: Registry, seams: Seams) {
    const { id, instanceId } = config.bridge;
    this.instanceId = instanceId ?? `${id}-${seams.random.id().slice(0, 8)}`;
    this.#config = config;
    this.#registry = registry;
    this.#seams = seams;
    this.#controls = new Controls(seams.clock);
    this.#controls.follow(config);
    this.#stores = new StorePool(registry, seams, (store) => this.#recover(store));
  }

  get terminated(): Promise<SupervisorState & { kind: "terminal" }> {
    return this.#terminated.promise;
  }

  state(): SupervisorState {
    if (this.#state.kind !== "stopping") return this.#state;
    return { kind: "stopping", phases: this.#runtime?.stoppingIn ?? [] };
  }

  config(): BridgeConfig {
    return this.#config;
  }

  view(): BridgeView {
    return viewOf(this.instanceId, this.#config, this.#state.kind, this.#runtime, this.#controls);
  }

  stats(): BridgeStats {
    const legs = this.#accounts.legs();
    return {
      legs,
      routes: this.#accounts.routes(),
      sessions: this.#sessionCounts.read(),
      parts: this.#runtime?.partStats() ?? [],
      redrives: this.#accounts.redrives,
      redriveFailures: this.#accounts.redriveFailures,
      unaccounted: unaccounted(legs),
    };
  }

  pauseRoute(routeId: string): void {
    this.#controls.switchOf(routeId).pause();
    this.#seams.logger.info("route paused", { route_id: routeId });
  }

  resumeRoute(routeId: string): void {
    this.#controls.switchOf(routeId).resume();
    this.#seams.logger.info("route resumed", { route_id: routeId });
  }

  dlq(): DlqStore | undefined {
    return this.#stores.dlq();
  }

  outbox(): OutboxStore | undefined {
    return this.#stores.outbox();
  }

  async deadLetterRecords(ids: readonly string[], signal: AbortSignal): Promise<MoveResult> {
    const outbox = this.#stores.outbox();
    const dlq = this.#stores.dlq();
    if (outbox === undefined) throw new OperationError("not_found", "no outbox store configured");
    if (dlq === undefined) throw new OperationError("not_found", "no DLQ store configured");
    const moved = (record: OutboxRecord): void => {
      this.#accounts.leg(record.routeId, record.bindingId).drain("dead_lettered");
      this.#runtime?.left(record);
    };
    return deadLetterRecords(ids, { ...this.#seams, outbox, dlq, moved }, signal);
  }

  async start(signal: AbortSignal): Promise<void> {
    await orAborted(
      this.#requests.run(() => this.#start()),
      signal,
    );
  }

  async stop(signal: AbortSignal): Promise<void> {
    await orAborted(
      this.#requests.run(() => this.#stop()),
      signal,
    );
  }

  shutdown(): Promise<void> {
    this.#shutdown ??= this.#shutDown();
    return this.#shutdown;
  }

  async inject(routeId: string, message: SourceMessage, signal: AbortSignal): Promise<InjectResult> {
    return this.#current().inject(routeId, message, signal);
  }

  async redrive(ids: readonly string[], signal: AbortSignal, replayTimeoutMs?: number): Promise<RedriveResult> {
    const runtime = this.#current();
    const store = this.#stores.dlq();
    if (store === undefined) throw new OperationError("not_found", "no DLQ store configured");
    if (!canDelete(store)) throw new OperationError("not_found", "no DLQ admin store configured");
    const result = await redrive({
      ids,
      store,
      target: {
        inject: (routeId, message, bound) => runtime.inject(routeId, message, bound),
        replay: async (entry, bound) => runtime.replay(entry, bound),
        deliveryMode: (routeId) => this.#config.routes.find((route) => route.id === routeId)?.deliveryMode,
      },
      busy: this.#redriving,
      logger: this.#seams.logger,
      signal,
      replayTimeoutMs,
    });
    this.#accounts.redrives += result.redriven;
    this.#accounts.redriveFailures += result.failed;
    return result;
  }

  /** The runtime in use; asked for each time, because stops and starts replace it. */
  #current(): Runtime {
    if (this.#state.kind !== "running" || this.#runtime === undefined) {
      throw new OperationError("unavailable", "runtime not available");
    }
    return this.#runtime;
  }

  async #start(): Promise<void> {
    switch (this.#state.kind) {
      case "running":
        return;
      case "shutting_down":
        throw new OperationError("conflict", "the bridge is shutting down");
      case "terminal":
        throw new OperationError("conflict", `the bridge is beyond recovery: ${this.#state.error.message}`);
      case "unwired":
      case "paused":
      case "starting":
      case "stopping":
        break;
    }
    const former = this.#runtime;
    this.#enter({ kind: "starting" });
    try {
      // A runtime that cannot be stopped still holds sessions and leases: a second one beside it could not be trusted.
      await former?.stop();
    } catch (error) {
      this.#becomeTerminal("wedged", error as Error);
      throw new OperationError("conflict", `the former runtime could not be stopped: ${(error as Error).message}`);
    }
    try {
      await this.#startRuntime();
    } catch (error) {
      const cause = error instanceof Error ? error : new Error(String(error));
      if (this.#state.kind === "starting") this.#enter({ kind: "paused", error: cause });
      throw new OperationError("conflict", `the bridge cannot start: ${cause.message}`, { cause });
    }
  }

  async #startRuntime(): Promise<void> {
    this.#runtime = undefined;
    const parts = build({
      ...this.#seams,
      config: this.#config,
      registry: this.#registry,
      accounts: this.#accounts,
      controls: this.#controls,
      dlq: () => this.#stores.dlq(),
      outbox: () => this.#stores.outbox(),
      budgets: () => this.#config.bridge,
    });
    await this.#stores.open(this.#config.stores, this.#root.signal);
    // Known before it runs: what a failed start could not close again, the next start has to hear of.
    const runtime = (this.#runtime = new Runtime(parts));
    this.#sessionCounts.follow(runtime.links);
    await runtime.start(this.#root.signal);
    this.#enter({ kind: "running" });
  }

  /** Enters what an outbox holds when it is opened; from then on every record comes in and goes out through us. */
  async #recover(store: OutboxStore): Promise<void> {
    for (const { routeId, bindingId, depth } of await store.backlog(this.#root.signal)) {
      this.#accounts.leg(routeId, bindingId).recover(depth);
    }
  }

  async #stop(): Promise<void> {
    const runtime = this.#runtime;
    if (this.#state.kind === "running") {
      this.#enter({ kind: "stopping", phases: [] });
      try {
        await runtime?.stop();
        this.#enterPaused(undefined);
      } catch (error) {
        this.#enterPaused(error as Error);
        throw error;
      }
      return;
    }
    // A later call joins what an earlier one began, and is told the same.
    await runtime?.stop();
  }

  #enterPaused(error: Error | undefined): void {
    if (this.#state.kind === "stopping") this.#enter({ kind: "paused", ...(error !== undefined && { error }) });
  }

  async #shutDown(): Promise<void> {
    if (mayFollow(this.#state.kind, "shutting_down")) this.#enter({ kind: "shutting_down" });
    this.#root.abort(new Error("the bridge is shutting down"));
    await this.#requests.run(async () => {
      const failures = await Promise.resolve(this.#runtime?.stop()).then(
        () => [],
        (error: unknown) =>
          error instanceof StopError
            ? error.phases.map((phase, index) => ({ phase, error: error.errors[index] as unknown }))
            : [{ phase: "runtime", error }],
      );
      const closes = await runPhases(this.#stores.closes());
      if (failures.length + closes.length > 0) throw new StopError([...failures, ...closes]);
    });
  }

  #becomeTerminal(cause: TerminalCause, error: Error): void {
    const state = { kind: "terminal", cause, error } as const;
    this.#enter(state);
    this.#terminated.resolve(state);
  }

  #enter(next: SupervisorState): void {
    if (!mayFollow(this.#state.kind, next.kind)) {
      throw new Error(`a bridge that is ${this.#state.kind} cannot become ${next.kind}`);
    }
    this.#seams.logger.info("bridge state", { from: this.#state.kind, to: next.kind });
    this.#state = next;
  }
}

function canDelete(store: DlqStore): store is DlqStore & { readonly admin: DlqAdmin } {
  return store.admin !== undefined;
}
