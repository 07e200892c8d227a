import type { BridgeConfig, ChangePlan, Stranding } from "@bridge/config";
import { type DlqStore, type OutboxStore, type Seams } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import { asError } from "../as-error.ts";
import { type Change, compare, pendingRestart } from "../change/compare.ts";
import type { RedriveResult } from "../dlq/redrive-result.ts";
import { OperationError } from "../operation-error.ts";
import { type InjectedMessage, sourceMessageOf } from "../route/injected-message.ts";
import type { InjectResult } from "../route/inject-result.ts";
import type { MoveResult } from "../outbox/dead-letter-record.ts";
import type { Kept, RuntimeParts } from "../runtime/build.ts";
import { changeSlices } from "../runtime/change-slices.ts";
import { Runtime } from "../runtime/runtime.ts";
import { runPhases, StopError } from "../runtime/stop-phases.ts";
import type { Veils } from "../veils.ts";
import type { BridgeView } from "../view/bridge-view.ts";
import type { BridgeStats } from "../view/stats.ts";
import { viewOf } from "../view/view-of.ts";
import { ChangeQueue } from "./change-queue.ts";
import type { SupervisorOptions } from "./create-supervisor.ts";
import type { InjectOptions, Supervisor, SupervisorState, TerminalCause } from "./contract.ts";
import { Foundation } from "./foundation.ts";
import { Operations } from "./operations.ts";
import { Serial } from "./serial.ts";
import { swap } from "./swap.ts";
import { mayFollow } from "./transitions.ts";

/** Owns the one current runtime: one state, changed in one function that asserts; the machine is in transitions.ts. */
export class RuntimeSupervisor implements Supervisor {
  readonly instanceId: string;
  readonly #startedWith: BridgeConfig;
  readonly #seams: Seams;
  readonly #foundation: Foundation;
  readonly #operations: Operations;
  readonly #requests = new Serial();
  readonly #changes: ChangeQueue;
  readonly #onConfig: (config: BridgeConfig) => void;
  /** The root context: aborted when the process is to end. */
  readonly #root = new AbortController();
  readonly #terminated = Promise.withResolvers<SupervisorState & { kind: "terminal" }>();
  #state: SupervisorState = { kind: "unwired" };
  #config: BridgeConfig;
  /** Under which the stores were opened and messages taken in; not the one that waits for a start. */
  readonly #veils: Veils;
  #carried: BridgeConfig | undefined;
  #refusedChange: string | undefined;
  #runtime: Runtime | undefined;
  #shutdown: Promise<void> | undefined;

  constructor(options: SupervisorOptions & { readonly instanceId: string; readonly veils: Veils }, seams: Seams) {
    const { config, registry, instanceId, tracer, hooks, veils, onConfig = () => {} } = options;
    this.#veils = veils;
    veils.remember(config.veils);
    this.instanceId = instanceId;
    this.#startedWith = config;
    this.#config = config;
    this.#seams = seams;
    this.#onConfig = onConfig;
    const bridge = () => this.#config.bridge;
    const holder = `${this.instanceId}/${seams.random.id()}`;
    this.#foundation = new Foundation({
      registry,
      seams,
      bridge,
      instanceId,
      veils,
      holder,
      root: this.#root.signal,
      tracer,
      hooks,
      recovered: (routeId, bindingId, depth) => this.#runtime?.route(routeId)?.recovered(bindingId, depth),
    });
    this.#foundation.follow(config);
    this.#operations = new Operations({
      seams,
      foundation: this.#foundation,
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

  get ending(): AbortSignal {
    return this.#root.signal;
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
      controls: this.#foundation.controls,
      stores: this.#foundation.stores.views(this.#config.stores),
      restartRequired: pendingRestart(this.#config, this.#startedWith),
      undelivered: this.#foundation.undrained,
      refusedChange: this.#refusedChange,
    });
  }

  get veil(): ((text: string) => string) | undefined {
    return this.#veils.veil;
  }

  stats(): BridgeStats {
    return this.#foundation.stats(this.#runtime);
  }

  pauseRoute(routeId: string): void {
    this.#foundation.controls.switchOf(routeId).pause();
    this.#seams.logger.info("route paused", { route_id: routeId });
  }

  resumeRoute(routeId: string): void {
    this.#foundation.controls.switchOf(routeId).resume();
    this.#seams.logger.info("route resumed", { route_id: routeId });
  }

  dlq(): DlqStore | undefined {
    return this.#foundation.stores.dlq();
  }

  outbox(): OutboxStore | undefined {
    return this.#foundation.stores.outbox();
  }

  async start(signal?: AbortSignal): Promise<void> {
    await orAborted(
      this.#requests.run(() => this.#start()),
      signal,
    );
  }

  async stop(signal?: AbortSignal): Promise<void> {
    await orAborted(
      this.#requests.run(() => this.#stop()),
      signal,
    );
  }

  apply(config: BridgeConfig, signal: AbortSignal = never()): Promise<"applied" | "accepted"> {
    return this.#changes.apply(config, signal);
  }

  beyondRecovery(): boolean {
    return this.#state.kind === "terminal";
  }

  async plan(config: BridgeConfig, signal: AbortSignal): Promise<ChangePlan> {
    return (await this.#compared(config, signal)).plan;
  }

  async stranding(config: BridgeConfig, signal: AbortSignal = never()): Promise<Stranding | undefined> {
    const from = this.#carried;
    if (from === undefined) return undefined;
    return this.#foundation.stranding({ from, to: config, moving: this.#state.kind === "running" }, signal);
  }

  shutdown(): Promise<void> {
    this.#shutdown ??= this.#shutDown();
    return this.#shutdown;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  async inject(routeId: string, message: InjectedMessage, options: InjectOptions = {}): Promise<InjectResult> {
    return this.#operations.inject(routeId, sourceMessageOf(message), options.signal ?? never());
  }

  redrive(ids: readonly string[], signal: AbortSignal = never(), replayTimeoutMs?: number): Promise<RedriveResult> {
    return this.#operations.redrive(ids, signal, replayTimeoutMs);
  }

  deadLetterRecords(ids: readonly string[], signal: AbortSignal = never()): Promise<MoveResult> {
    return this.#operations.deadLetterRecords(ids, signal);
  }

  /** The runtime in use; asked for each time, because stops and starts replace it. */
  #current(): Runtime {
    const { kind } = this.#state;
    if ((kind !== "running" && kind !== "swapping") || this.#runtime === undefined) {
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
      await this.#startRuntime();
      this.#enter({ kind: "running" });
    } catch (error) {
      const cause = asError(error);
      if (this.#state.kind === "starting") this.#enter({ kind: "paused", error: cause });
      throw new OperationError("conflict", `the bridge cannot start: ${cause.message}`, { cause });
    }
  }

  async #startRuntime(): Promise<void> {
    const [config, foundation] = [this.#config, this.#foundation];
    const parts = await changeSlices(this.#seams.clock).run(foundation.build(config), this.#root.signal);
    await foundation.open(config, this.#root.signal);
    this.#carried = config;
    foundation.starting(config, parts);
    // Known before it runs: what a failed start could not close again, the next start has to hear of.
    this.#runtime = new Runtime({
      ...this.#seams,
      parts,
      budgets: () => this.#config.bridge,
      keepLease: (lease, signal) => foundation.keepLease(lease, signal),
      leaseLost: (error) => this.#becomeTerminal("lease_lost", error),
    });
    await this.#runtime.start(this.#root.signal);
  }

  async #change(config: BridgeConfig, signal: AbortSignal): Promise<"applied" | "accepted"> {
    this.#refuseWhenTerminal();
    for (const { veils } of [this.#config, config]) this.#veils.remember(veils);
    const stranding = await this.stranding(config, AbortSignal.any([signal, this.#root.signal]));
    if (stranding !== undefined) throw new OperationError("stranding", stranding.message);
    if (!this.#mayChange(config)) return "accepted";
    const change = await this.#compared(config, signal);
    if (!this.#mayChange(config)) return "accepted";
    const runtime = this.#runtime;
    if (change.swaps && runtime !== undefined) return this.#swap(runtime, change, config, signal);
    this.#carried = config;
    this.#take(config);
    return "applied";
  }

  /** `false`: nothing runs that could be changed, and `config` is taken for the next start. */
  #mayChange(config: BridgeConfig): boolean {
    this.#refuseWhenTerminal();
    if (this.#state.kind === "running") return true;
    this.#take(config);
    return false;
  }

  /** What runs, or is to, compared with `config`. */
  #compared(config: BridgeConfig, signal: AbortSignal): Promise<Change> {
    const comparing = compare(this.#config, config, this.#startedWith);
    return changeSlices(this.#seams.clock).run(comparing, signal);
  }

  #refuseWhenTerminal(): void {
    if (this.#state.kind === "terminal") throw beyondRecovery(this.#state.error);
  }

  async #swap(
    runtime: Runtime,
    change: Change,
    config: BridgeConfig,
    signal: AbortSignal,
  ): Promise<"applied" | "accepted"> {
    const former = this.#config;
    const kept = () => ({ parts: runtime.parts, keys: change.kept });
    const foundation = this.#foundation;
    const parts = await this.#prepared(config, kept(), signal);
    if (!this.#mayChange(config) || parts === undefined) return "accepted";
    this.#enter({ kind: "swapping" });
    const root = this.#root.signal;
    const rebuild = () => changeSlices(this.#seams.clock).run(foundation.build(former, kept()), root);
    const outcome = await swap({ runtime, foundation, from: former, to: config, parts, rebuild, root }, signal);
    switch (outcome.kind) {
      case "applied":
      case "ending":
        this.#carried = config;
        this.#take(config);
        if (!this.#back()) return "accepted";
        // Before the next change, which may bring such a session back.
        await foundation.leaveSessions(former, config);
        return "applied";
      case "undone":
        this.#take(former);
        this.#back();
        signal.throwIfAborted();
        throw undone(outcome.error);
      case "terminal":
        this.#becomeTerminal(outcome.cause, outcome.error);
        throw beyondRecovery(outcome.error);
    }
  }

  /** `undefined` when the process is to end. */
  async #prepared(config: BridgeConfig, kept: Kept, signal: AbortSignal): Promise<RuntimeParts | undefined> {
    const root = this.#root.signal;
    const building = this.#foundation.build(config, kept);
    try {
      return await changeSlices(this.#seams.clock).run(building, AbortSignal.any([signal, root]));
    } catch (error) {
      this.#foundation.follow(this.#config);
      if (root.aborted) return undefined;
      throw error;
    }
  }

  /** After a swap: `false` when a shutdown has come in between. */
  #back(): boolean {
    if (this.#state.kind !== "swapping") return false;
    this.#enter({ kind: "running" });
    return true;
  }

  #take(config: BridgeConfig): void {
    this.#config = config;
    this.#foundation.follow(config);
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
      // Before the stores, which hooks may load dead letters from.
      await this.#foundation.hooks.end();
      const closes = await runPhases(this.#foundation.stores.closes());
      if (failures.length + closes.length > 0) throw new StopError([...failures, ...closes]);
    });
  }

  #becomeTerminal(cause: TerminalCause, error: Error): void {
    // The first cause is the cause; and a process that ends already needs no other.
    if (!mayFollow(this.#state.kind, "terminal")) return;
    const state = { kind: "terminal", cause, error } as const;
    this.#enter(state);
    this.#terminated.resolve(state);
  }

  #enter(next: SupervisorState): void {
    if (!mayFollow(this.#state.kind, next.kind)) {
      throw new Error(`a bridge that is ${this.#state.kind} cannot become ${next.kind}`);
    }
    const { kind: from } = this.#state;
    this.#seams.logger.info("bridge state", { from, to: next.kind });
    this.#state = next;
    this.#foundation.hooks.state(from, next);
  }
}

/** For callers who give nothing up. One for each call, because listeners are put on it. */
function never(): AbortSignal {
  return new AbortController().signal;
}

function undone(error: Error): OperationError {
  const message = `${error.message} (the former configuration runs again)`;
  const kind = error instanceof OperationError ? error.kind : "failed";
  return new OperationError(kind, message, { cause: error });
}

function beyondRecovery(error: Error): OperationError {
  return new OperationError("conflict", `the bridge is beyond recovery: ${error.message}`, { cause: error });
}
