import type { BridgeConfig, ChangePlan, Stranding } from "@bridge/config";
import { type DlqStore, type OutboxStore, type Seams } from "@bridge/ports";
import { orAborted, Serial } from "@bridge/ports/internal";
import { asError } from "../as-error.ts";
import { givenConfig, givenIds, givenOptions, givenSignal } from "../given.ts";
import type { RedrivenEntry } from "../dlq/redrive-entry.ts";
import type { RedriveResult } from "../dlq/redrive-result.ts";
import { JobOwner } from "../dlq-job/job-owner.ts";
import type { JobEvent, JobParts, LaneStanding } from "../dlq-job/job-parts.ts";
import type { Jobs } from "../dlq-job/jobs.ts";
import { StoredJobs } from "../dlq-job/stored-jobs.ts";
import { OperationError } from "../operation-error.ts";
import type { MoveResult } from "../outbox/dead-letter-record.ts";
import type { InjectResult } from "../route/inject-result.ts";
import { type InjectedMessage, sourceMessageOf } from "../route/injected-message.ts";
import type { Whereabouts } from "../recent/whereabouts.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Tap, TapOptions } from "../tap/tap.ts";
import type { Veils } from "../veils.ts";
import type { BridgeView } from "../view/bridge-view.ts";
import type { BridgeStats } from "../view/stats.ts";
import { viewOf } from "../view/view-of.ts";
import { ChangeQueue } from "./change-queue.ts";
import { Changes } from "./changes.ts";
import type { InjectOptions, RedriveEntryRequest, Supervisor, SupervisorState } from "./contract.ts";
import type { SupervisorOptions } from "./create-supervisor.ts";
import { DepartureNote } from "./departure-note.ts";
import { Foundation } from "./foundation.ts";
import { Operations } from "./operations.ts";
import type { Standing } from "./standing.ts";
import { start } from "./start.ts";
import { StateMachine } from "./state-machine.ts";
import { close, stop } from "./stop.ts";
import { StopsWaiting } from "./stops-waiting.ts";
import { trialOf } from "./trial.ts";
import { mayFollow } from "./transitions.ts";

/** Ends of legs that are told of one message. */
const MAX_ENDED = 100;

/** Owns the one current runtime, and has requests that replace it wait for each other. */
export class RuntimeSupervisor implements Supervisor {
  readonly instanceId: string;
  readonly trial = trialOf({ view: () => this.view(), stats: () => this.stats() });
  readonly #standing: Standing;
  readonly #changes: Changes;
  readonly #operations: Operations;
  readonly #jobOwner: JobOwner;
  readonly #jobs: Jobs;
  readonly #requests = new Serial();
  readonly #stops = new StopsWaiting();
  readonly #queue: ChangeQueue;
  readonly #veils: Veils;
  /** The root context: aborted when the process is to end. */
  readonly #root = new AbortController();
  #refusedChange: string | undefined;
  #shutdown: Promise<void> | undefined;

  constructor(options: SupervisorOptions & { readonly instanceId: string; readonly veils: Veils }, seams: Seams) {
    const { config, registry, instanceId, tracer, hooks, veils, onConfig = () => {}, onJob = () => {} } = options;
    const { signal: root } = this.#root;
    this.instanceId = instanceId;
    this.#veils = veils;
    veils.remember(config.veils);
    const foundation = new Foundation({
      registry,
      seams,
      bridge: () => this.config().bridge,
      instanceId,
      veils,
      holder: `${instanceId}/${seams.random.id()}`,
      root,
      tracer,
      hooks,
      recovered: (routeId, bindingId, depth) => this.#standing.runtime?.route(routeId)?.recovered(bindingId, depth),
    });
    foundation.follow(config);
    const state = new StateMachine(seams.logger, (from, to) => foundation.hooks.state(from, to));
    const departure = new DepartureNote(options.departures, seams, config);
    this.#standing = { seams, foundation, state, departure, root, config, carried: undefined, runtime: undefined };
    this.#changes = new Changes({ standing: this.#standing, veils, stops: this.#stops, onConfig });
    this.#operations = new Operations({
      seams,
      foundation,
      config: () => this.config(),
      runtime: () => this.#standing.runtime,
      current: () => this.#current(),
    });
    const jobParts: JobParts = {
      ...seams,
      instanceId,
      holder: foundation.holder,
      registry,
      config: () => this.config(),
      store: () => foundation.stores.dlq(),
      standing: (routeId) => this.#laneStanding(routeId),
      replay: async (entry, signal, job) => this.#current().replay(entry, signal, job),
      redrives: async ({ routeId, id }, signal) =>
        (await this.#standing.runtime?.route(routeId)?.redrives(id, signal)) === true,
      busy: this.#operations.busy,
      delivered: this.#operations.delivered,
      tallies: foundation.jobTallies,
      tell: (event) => this.#tellOfJob(event, onJob),
    };
    this.#jobOwner = new JobOwner(jobParts);
    this.#jobs = new StoredJobs(jobParts, this.#jobOwner);
    this.#queue = new ChangeQueue({
      clock: seams.clock,
      requests: this.#requests,
      busy: () => state.is("swapping"),
      change: (next, signal) => this.#changes.apply(next, signal),
      root,
      refused: (error, isRetry = false) => this.#noteRefused(error, isRetry),
    });
  }

  get terminated(): Promise<SupervisorState & { kind: "terminal" }> {
    return this.#standing.state.terminated;
  }

  get ending(): AbortSignal {
    return this.#root.signal;
  }

  state(): SupervisorState {
    const { state, runtime } = this.#standing;
    if (!state.is("stopping")) return state.now;
    return { kind: "stopping", phases: runtime?.stoppingIn ?? [] };
  }

  config(): BridgeConfig {
    return this.#standing.config;
  }

  view(): BridgeView {
    const { config, state, runtime, foundation } = this.#standing;
    return viewOf({
      instanceId: this.instanceId,
      config,
      state: state.now.kind,
      runtime,
      controls: foundation.controls,
      stores: foundation.stores.views(config.stores),
      restartRequired: this.#changes.pendingRestart,
      undelivered: foundation.undrained,
      refusedChange: this.#refusedChange,
    });
  }

  get veil(): ((text: string) => string) | undefined {
    return this.#veils.veil;
  }

  stats(): BridgeStats {
    return this.#standing.foundation.stats(this.#standing.runtime);
  }

  pauseRoute(routeId: string): void {
    const { foundation, seams } = this.#standing;
    foundation.controls.switchOf(routeId).pause();
    seams.logger.info("route paused", { route_id: routeId });
  }

  resumeRoute(routeId: string): void {
    const { foundation, seams } = this.#standing;
    foundation.controls.switchOf(routeId).resume();
    seams.logger.info("route resumed", { route_id: routeId });
  }

  tap(routeId: string, options: TapOptions = {}): Tap {
    if (!this.config().routes.some(({ id }) => id === routeId))
      throw new OperationError("not_found", "route not found");
    return this.#standing.foundation.taps.of(routeId).open(options);
  }

  whereabouts(envelopeId: string): Whereabouts {
    const { foundation, runtime } = this.#standing;
    const { legs, redrives } = foundation.recent;
    return {
      inFlight: runtime?.inFlight(envelopeId) ?? [],
      ended: legs.find(envelopeId, MAX_ENDED),
      redrivenAs: redrives.of(envelopeId),
      remembers: { legs: legs.size, since: legs.since },
    };
  }

  dlq(): DlqStore | undefined {
    return this.#standing.foundation.stores.dlq();
  }

  outbox(): OutboxStore | undefined {
    return this.#standing.foundation.stores.outbox();
  }

  jobs(): Jobs {
    return this.#jobs;
  }

  async start(signal?: AbortSignal): Promise<void> {
    givenSignal(signal);
    this.#jobOwner.begin();
    await orAborted(
      this.#requests.run(async () => {
        await start(this.#standing);
        // Those that were looked at before wait for this.
        this.#jobOwner.poke();
      }),
      signal,
    );
  }

  async stop(signal?: AbortSignal): Promise<void> {
    givenSignal(signal);
    this.#stops.begin();
    const stopped = this.#requests.run(() => {
      this.#stops.end();
      return stop(this.#standing);
    });
    await orAborted(stopped, signal);
  }

  async apply(config: BridgeConfig, signal?: AbortSignal): Promise<"applied" | "accepted"> {
    const [given, bound] = [givenConfig(config), givenSignal(signal) ?? never()];
    // Now and not when it has its turn: of those that wait, the newest is what is stored.
    this.#standing.departure.stores(given);
    return this.#queue.apply(given, bound);
  }

  async announce(config: BridgeConfig): Promise<() => Promise<void>> {
    return this.#standing.departure.announce(givenConfig(config));
  }

  beyondRecovery(): boolean {
    return this.#standing.state.is("terminal");
  }

  async plan(config: BridgeConfig, signal: AbortSignal): Promise<ChangePlan> {
    return this.#changes.plan(givenConfig(config), givenSignal(signal) ?? never());
  }

  async stranding(config: BridgeConfig, signal?: AbortSignal, stored?: BridgeConfig): Promise<Stranding | undefined> {
    const others = stored && givenConfig(stored);
    return this.#changes.stranding(givenConfig(config), givenSignal(signal) ?? never(), others);
  }

  shutdown(): Promise<void> {
    this.#shutdown ??= this.#shutDown();
    return this.#shutdown;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  async inject(routeId: string, message: InjectedMessage, options: InjectOptions = {}): Promise<InjectResult> {
    const { signal = never() } = givenOptions(options);
    return this.#operations.inject(routeId, sourceMessageOf(message), signal);
  }

  async redrive(ids: readonly string[], signal?: AbortSignal, replayTimeoutMs?: number): Promise<RedriveResult> {
    return this.#operations.redrive(givenIds(ids), givenSignal(signal) ?? never(), replayTimeoutMs);
  }

  async redriveEntry(id: string, request: RedriveEntryRequest = {}, signal?: AbortSignal): Promise<RedrivenEntry> {
    return this.#operations.redriveEntry(id, request, givenSignal(signal) ?? never());
  }

  async deadLetterRecords(ids: readonly string[], signal?: AbortSignal): Promise<MoveResult> {
    return this.#operations.deadLetterRecords(givenIds(ids), givenSignal(signal) ?? never());
  }

  #laneStanding(routeId: string): LaneStanding {
    const { state, runtime } = this.#standing;
    if (!state.is("running", "swapping") || runtime === undefined)
      return { kind: "waits", why: "the bridge is stopped" };
    return runtime.standing(routeId);
  }

  #tellOfJob(event: JobEvent, onJob: (event: JobEvent) => void): void {
    try {
      onJob(event);
    } catch (thrown) {
      this.#standing.seams.logger.error("what a job does could not be told", { error: asError(thrown).message });
    }
  }

  /** The runtime in use; asked for each time, because stops and starts replace it. */
  #current(): Runtime {
    const { state, runtime } = this.#standing;
    if (!state.is("running", "swapping") || runtime === undefined) {
      throw new OperationError("unavailable", "runtime not available");
    }
    return runtime;
  }

  #noteRefused(error: unknown, isRetry: boolean): void {
    this.#refusedChange = error === undefined ? undefined : asError(error).message;
    if (error === undefined || isRetry) return;
    this.#standing.seams.logger.error("the newest configuration is not in force", { error: this.#refusedChange });
  }

  async #shutDown(): Promise<void> {
    const { state } = this.#standing;
    if (mayFollow(state.now.kind, "shutting_down")) state.enter({ kind: "shutting_down" });
    this.#root.abort(new Error("the bridge is shutting down"));
    await this.#requests.run(() => close(this.#standing, this.#jobOwner, this.#operations));
  }
}

/** For callers who give nothing up. One for each call, because listeners are put on it. */
function never(): AbortSignal {
  return new AbortController().signal;
}
