import type { BridgeConfig, ChangePlan, Registry } from "@bridge/config";
import {
  type DlqStore,
  type Logger,
  orAborted,
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
import { compare, pendingRestart } from "../change/compare.ts";
import type { RedriveResult } from "../dlq/redrive-result.ts";
import { OperationError } from "../operation-error.ts";
import type { InjectResult } from "../route/inject-result.ts";
import type { MoveResult } from "../outbox/dead-letter-record.ts";
import { build, type RuntimeParts } from "../runtime/build.ts";
import { Runtime } from "../runtime/runtime.ts";
import { runPhases, StopError } from "../runtime/stop-phases.ts";
import type { BridgeView } from "../view/bridge-view.ts";
import type { BridgeStats } from "../view/stats.ts";
import { SessionCounts } from "../view/session-counts.ts";
import { viewOf } from "../view/view-of.ts";
import { ChangeQueue } from "./change-queue.ts";
import type { Supervisor, SupervisorState, TerminalCause } from "./contract.ts";
import { Operations } from "./operations.ts";
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
  /** Told of each configuration that comes into force after the first, for what lies outside, such as the log level. */
  readonly onConfig?: (config: BridgeConfig) => void;
}

/** A bridge for one configuration, not started: nothing is opened before {@link Supervisor.start}. */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  const seams = {
    logger: options.logger ?? silentLogger,
    clock: options.clock ?? systemClock,
    random: options.random ?? systemRandom(),
  };
  return new RuntimeSupervisor(options, seams);
}

/** Owns the one current runtime: one state, changed in one function that asserts; the machine is in transitions.ts. */
class RuntimeSupervisor implements Supervisor {
  readonly instanceId: string;
  readonly #startedWith: BridgeConfig;
  readonly #registry: Registry;
  readonly #seams: Seams;
  readonly #stores: StorePool;
  readonly #accounts = new Accounts();
  readonly #controls: Controls;
  readonly #sessionCounts = new SessionCounts();
  readonly #operations: Operations;
  readonly #requests = new Serial();
  readonly #changes: ChangeQueue;
  readonly #onConfig: (config: BridgeConfig) => void;
  /** The root context: aborted when the process is to end. */
  readonly #root = new AbortController();
  readonly #terminated = Promise.withResolvers<SupervisorState & { kind: "terminal" }>();
  #state: SupervisorState = { kind: "unwired" };
  #config: BridgeConfig;
  #refusedChange: string | undefined;
  #runtime: Runtime | undefined;
  #shutdown: Promise<void> | undefined;

  constructor({ config, registry, onConfig = () => {} }: SupervisorOptions, seams: Seams) {
    const { id, instanceId } = config.bridge;
    this.instanceId = instanceId ?? `${id}-${seams.random.id().slice(0, 8)}`;
    this.#startedWith = config;
    this.#config = config;
    this.#registry = registry;
    this.#seams = seams;
    this.#controls = new Controls(seams.clock);
    this.#controls.follow(config);
    this.#onConfig = onConfig;
    this.#stores = new StorePool(registry, seams, (store) => this.#recover(store));
    this.#operations = new Operations({
      seams,
      stores: this.#stores,
      accounts: this.#accounts,
      config: () => this.#config,
      runtime: () => this.#runtime,
      current: () => this.#current(),
    });
    this.#changes = new ChangeQueue({
      requests: this.#requests,
      busy: () => this.#state.kind === "swapping",
      change: (next, signal) => this.#change(next, signal),
      root: this.#root.signal,
      refused: (error) => this.#noteRefused(error),
    });
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
    return viewOf({
      instanceId: this.instanceId,
      config: this.#config,
      state: this.#state.kind,
      runtime: this.#runtime,
      controls: this.#controls,
      restartRequired: pendingRestart(this.#config, this.#startedWith),
      refusedChange: this.#refusedChange,
    });
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

  apply(config: BridgeConfig, signal: AbortSignal): Promise<"applied" | "accepted"> {
    return this.#changes.apply(config, signal);
  }

  plan(config: BridgeConfig): ChangePlan {
    return compare(this.#config, config, this.#startedWith).plan;
  }

  shutdown(): Promise<void> {
    this.#shutdown ??= this.#shutDown();
    return this.#shutdown;
  }

  inject(routeId: string, message: SourceMessage, signal: AbortSignal): Promise<InjectResult> {
    return this.#operations.inject(routeId, message, signal);
  }

  redrive(ids: readonly string[], signal: AbortSignal, replayTimeoutMs?: number): Promise<RedriveResult> {
    return this.#operations.redrive(ids, signal, replayTimeoutMs);
  }

  deadLetterRecords(ids: readonly string[], signal: AbortSignal): Promise<MoveResult> {
    return this.#operations.deadLetterRecords(ids, signal);
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
        throw beyondRecovery(this.#state.error);
      case "unwired":
      case "paused":
      case "starting":
      case "swapping":
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
      this.#runtime = undefined;
      await this.#run(this.#config, this.#build(this.#config), this.#root.signal);
      this.#enter({ kind: "running" });
    } catch (error) {
      const cause = asError(error);
      if (this.#state.kind === "starting") this.#enter({ kind: "paused", error: cause });
      throw new OperationError("conflict", `the bridge cannot start: ${cause.message}`, { cause });
    }
  }

  #build(config: BridgeConfig): RuntimeParts {
    return build({
      ...this.#seams,
      config,
      registry: this.#registry,
      accounts: this.#accounts,
      controls: this.#controls,
      dlq: () => this.#stores.dlq(),
      outbox: () => this.#stores.outbox(),
      budgets: () => this.#config.bridge,
    });
  }

  async #run(config: BridgeConfig, parts: RuntimeParts, opening: AbortSignal): Promise<void> {
    await this.#stores.open(config.stores, opening);
    // Known before it runs: what a failed start could not close again, the next start has to hear of.
    const runtime = (this.#runtime = new Runtime(parts));
    this.#sessionCounts.follow(runtime.links);
    this.#controls.limit(config);
    await runtime.start(this.#root.signal, opening);
  }

  /** Enters what an outbox holds when it is opened; from then on every record comes in and goes out through us. */
  async #recover(store: OutboxStore): Promise<void> {
    for (const { routeId, bindingId, depth } of await store.backlog(this.#root.signal)) {
      this.#accounts.leg(routeId, bindingId).recover(depth);
    }
  }

  async #change(config: BridgeConfig, signal: AbortSignal): Promise<"applied" | "accepted"> {
    if (this.#state.kind === "terminal") throw beyondRecovery(this.#state.error);
    if (this.#state.kind !== "running") {
      this.#take(config);
      return "accepted";
    }
    if (!compare(this.#config, config, this.#startedWith).swaps) {
      this.#take(config);
      return "applied";
    }
    return this.#swap(config, signal);
  }

  /** Builds, stops, starts; and when that fails, the same back. Between the two no part of both is open. */
  async #swap(config: BridgeConfig, signal: AbortSignal): Promise<"applied" | "accepted"> {
    const former = this.#config;
    const parts = this.#build(config);
    this.#enter({ kind: "swapping" });
    try {
      await this.#runtime?.stop();
    } catch (error) {
      if (this.#ending) return this.#accept(config);
      this.#becomeTerminal("wedged", error as Error);
      throw beyondRecovery(error as Error);
    }
    try {
      signal.throwIfAborted();
      await this.#run(config, parts, AbortSignal.any([signal, this.#root.signal]));
      if (this.#ending) return this.#accept(config);
      this.#take(config);
      this.#enter({ kind: "running" });
      return "applied";
    } catch (error) {
      if (this.#ending) return this.#accept(config);
      await this.#restore(former, asError(error));
      signal.throwIfAborted();
      throw new OperationError(
        "failed",
        `the configuration could not be applied, the former one runs again: ${asError(error).message}`,
        { cause: error },
      );
    }
  }

  /** Runs the former configuration again. @throws OperationError `conflict` when not even that is possible */
  async #restore(former: BridgeConfig, cause: Error): Promise<void> {
    this.#seams.logger.warn("configuration not applied: the former one is started again", { error: cause.message });
    try {
      await this.#runtime?.stop();
      await this.#run(former, this.#build(former), this.#root.signal);
    } catch (error) {
      if (this.#ending) return;
      const failure = new AggregateError(
        [cause, error],
        `the configuration could not be applied (${cause.message}), nor the former one again (${asError(error).message})`,
      );
      this.#becomeTerminal("swap_failed", failure);
      throw beyondRecovery(failure);
    }
    if (!this.#ending) this.#enter({ kind: "running" });
  }

  /** Whether a shutdown has come in between. */
  get #ending(): boolean {
    return this.#state.kind === "shutting_down";
  }

  #accept(config: BridgeConfig): "accepted" {
    this.#take(config);
    return "accepted";
  }

  #take(config: BridgeConfig): void {
    this.#config = config;
    this.#controls.follow(config);
    this.#onConfig(config);
  }

  #noteRefused(error: unknown): void {
    this.#refusedChange = error === undefined ? undefined : asError(error).message;
    if (error === undefined) return;
    this.#seams.logger.error("the newest configuration is not in force", { error: this.#refusedChange });
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

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function beyondRecovery(error: Error): OperationError {
  return new OperationError("conflict", `the bridge is beyond recovery: ${error.message}`, { cause: error });
}
