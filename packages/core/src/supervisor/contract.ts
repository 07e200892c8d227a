import type { BridgeConfig, ChangePlan, ConfigApplier, Trial } from "@bridge/config";
import type { DeadLetter, DlqStore, OutboxStore } from "@bridge/ports";
import type { MoveResult } from "../outbox/dead-letter-record.ts";
import type { InjectedMessage } from "../route/injected-message.ts";
import type { InjectResult } from "../route/inject-result.ts";
import type { RedrivenEntry } from "../dlq/redrive-entry.ts";
import type { RedriveResult } from "../dlq/redrive-result.ts";
import type { Whereabouts } from "../recent/whereabouts.ts";
import type { Tap, TapOptions } from "../tap/tap.ts";
import type { Jobs } from "../dlq-job/jobs.ts";
import type { BridgeView } from "../view/bridge-view.ts";
import type { BridgeStats } from "../view/stats.ts";

/**
 * Where the one runtime of a bridge stands.
 *
 * - `unwired`: no start has been asked for yet.
 * - `starting`, `stopping`: a request is being served.
 * - `running`: a runtime carries messages; it may be an empty one, without routes and sessions.
 * - `swapping`: what another configuration changes is being stopped and started.
 * - `paused`: stopped by an operator, or the last start failed; it can be started again, as a fresh runtime.
 * - `shutting_down`: the process is ending; nothing starts any more.
 * - `terminal`: beyond recovery; only a new process helps (spec 3.1).
 */
export type SupervisorState =
  | { readonly kind: "unwired" }
  | { readonly kind: "starting" }
  | { readonly kind: "running" }
  | { readonly kind: "swapping" }
  /** `phases`: what it is in at the moment. */
  | { readonly kind: "stopping"; readonly phases: readonly string[] }
  | { readonly kind: "paused"; readonly error?: Error }
  | { readonly kind: "shutting_down" }
  | { readonly kind: "terminal"; readonly error: Error; readonly cause: TerminalCause };

/** `wedged`: a stop failed. `swap_failed`: neither another configuration nor the former one runs. `lease_lost`: an exclusive session stepped down for good. */
export type TerminalCause = "wedged" | "swap_failed" | "lease_lost";

/**
 * Owns the one current runtime; the only thing that replaces it. Requests are served one at a time. Disposing it is a
 * {@link Supervisor.shutdown}.
 */
export interface Supervisor extends ConfigApplier, AsyncDisposable {
  /** `bridge.instance_id`, else `<bridge.id>-<random>`; the same for the life of the process. */
  readonly instanceId: string;
  state(): SupervisorState;
  /** The configuration in force, or, while none runs, the one that the next start uses. */
  config(): BridgeConfig;
  /** Facts and judgements for every reader: a snapshot, nothing waits. */
  view(): BridgeView;
  /**
   * Takes out of a text, such as an error, what came in through a reference. For whoever shows one; absent while nothing did.
   */
  readonly veil: ((text: string) => string) | undefined;
  /** Counters and gauges; monotonic over restarts of the runtime. */
  stats(): BridgeStats;

  /**
   * Starts a fresh runtime; does nothing when one runs. Aborting `signal` gives up waiting, not the start.
   * @throws OperationError `conflict` naming the cause when it cannot start
   */
  start(signal?: AbortSignal): Promise<void>;
  /**
   * Stops the runtime; does nothing when none runs. Aborting `signal` gives up waiting: the stop goes on and a later
   * call joins it.
   * @throws StopError naming the phases that failed; a later start then finds the bridge beyond recovery
   */
  stop(signal?: AbortSignal): Promise<void>;
  /**
   * Makes `config`, as validated with the same registry, what runs (spec 3.1): builds what changes, stops what it
   * replaces, starts it. While it is `paused`, `unwired` or `shutting_down` it is recorded, and while another
   * configuration is being brought into force it waits for that: `accepted`. Of those that wait the newest is used.
   *
   * @throws OperationError `failed` when it cannot be brought into force and the former configuration runs again,
   * `conflict` when the bridge is beyond recovery, by then or before, `stranding` when it would leave messages behind; the signal's reason when that made it give up
   */
  apply(config: BridgeConfig, signal?: AbortSignal): Promise<"applied" | "accepted">;
  /** Remembers what runs in {@link SupervisorOptions.departures}, when `config` could leave something behind. */
  announce(config: BridgeConfig): Promise<() => Promise<void>>;
  readonly trial: Trial;
  /** Whether it is `terminal`. */
  beyondRecovery(): boolean;
  plan(config: BridgeConfig, signal: AbortSignal): Promise<ChangePlan>;
  /**
   * Ends everything: quiesce, runtime stop, stores. Later requests are refused. Idempotent, one result for all.
   * @throws StopError naming the phases that failed
   */
  shutdown(): Promise<void>;
  /** Aborts when {@link Supervisor.shutdown} is called, by whomever. */
  readonly ending: AbortSignal;
  /** Resolves once the supervisor is terminal; never rejects. */
  readonly terminated: Promise<SupervisorState & { kind: "terminal" }>;

  /**
   * Carries `message` through a route as if a source had delivered it, and tells what became of it. Aborting `signal`
   * cancels the work. When nothing had been sent by then the call rejects with an OperationError `not_begun`; else with the
   * signal's reason, and the message may have been delivered all the same.
   * @throws OperationError `unavailable` without a running runtime, `not_found` for an unknown route
   * @throws TypeError naming what of the payload is neither text nor bytes nor a JSON value
   */
  inject(routeId: string, message: InjectedMessage, options?: InjectOptions): Promise<InjectResult>;

  /**
   * Delivers dead letters again: inject first, delete after (spec 4.6). Never rejects for an entry: see the result.
   * When `signal` aborts, entries not finished are reported as such and kept; `replayTimeoutMs` bounds each entry by
   * itself. Default 30 s.
   * @throws OperationError `unavailable` without a running runtime, `not_found` without a store that can delete
   */
  redrive(ids: readonly string[], signal?: AbortSignal, replayTimeoutMs?: number): Promise<RedriveResult>;

  /**
   * Delivers one dead letter again, or what {@link RedriveEntryRequest.edit} makes of it, and deletes it when that is confirmed. What
   * is not delivered stays as it was, with a mark, and is in the DLQ once. `signal` bounds the whole.
   * @throws OperationError as {@link redrive}, `not_found` for a store without marks or an entry whose route or binding is not configured,
   * `conflict` while its route is paused, `pending` while it is in the outbox, `failed` when nobody knows what became of it
   */
  redriveEntry(id: string, request?: RedriveEntryRequest, signal?: AbortSignal): Promise<RedrivenEntry>;

  /**
   * Moves pending outbox records to the DLQ, also while paused, such as one that holds up its ordering key.
   * @throws OperationError `not_found` without an outbox or without a DLQ store
   */
  deadLetterRecords(ids: readonly string[], signal?: AbortSignal): Promise<MoveResult>;

  /**
   * Holds a route still: nothing is taken from its receiver, nothing is sent, and what it holds stays unsettled or in
   * the outbox; sends that have begun may end. Injects and redrives are refused until it is resumed. Lasts over stops,
   * starts and reloads of the bridge, until the process ends or the route is configured no more. Idempotent.
   * @throws OperationError `not_found` for an unknown route
   */
  pauseRoute(routeId: string): void;
  /** Lets a paused route go on where it was. Idempotent. @throws OperationError `not_found` for an unknown route */
  resumeRoute(routeId: string): void;

  /**
   * Looks at what a route settles from now on, until it is disposed of, its time is over or the route is configured no more. It costs
   * the route a copy of what is shown, and nothing while nobody looks.
   * @throws OperationError `not_found` for an unknown route
   */
  tap(routeId: string, options?: TapOptions): Tap;
  /** Where a message is in this process, or was not long ago: a snapshot, nothing waits. */
  whereabouts(envelopeId: string): Whereabouts;

  /** The outbox, also while paused; `undefined` when none is configured or it is not open yet. */
  outbox(): OutboxStore | undefined;

  /** What is done to many dead letters at once, also while paused. Jobs live in the DLQ store. */
  jobs(): Jobs;

  /** The dead letters, also while paused; `undefined` when none is configured or it is not open yet. */
  dlq(): DlqStore | undefined;
}

export interface RedriveEntryRequest {
  /** Makes what is sent in the place of the entry; what it throws is thrown, and nothing is done. Default: the entry. */
  readonly edit?: ((entry: DeadLetter) => DeadLetter) | undefined;
  /** Bounds the delivery. Default 30 s. */
  readonly replayTimeoutMs?: number | undefined;
}

export interface InjectOptions {
  /** Default: nothing gives the inject up but a stop. */
  readonly signal?: AbortSignal | undefined;
}
