import type { Clock } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import type { Supervisor } from "../supervisor/contract.ts";
import type { OutsideFacts } from "./condition-facts.ts";
import { type Condition, Conditions } from "./conditions.ts";
import { RecentGrowth } from "./recent-growth.ts";
import { SendWindow } from "./send-window.ts";
import { Series, type SeriesView, type SeriesWindow } from "./series.ts";

const TICK_MS = 1_000;
const LOOK_MS = 5_000;
const OUTBOX_LOOK_MS = 60_000;
const OUTBOX_TIMEOUT_MS = 5_000;
/** A count may cost money. */
const DLQ_LOOK_MS = 60_000;
const DLQ_TIMEOUT_MS = 5_000;
/** The highest count asked of a store that cannot count groups. */
const DLQ_CAP = 1_000;

export interface RecorderOptions {
  readonly supervisor: Supervisor;
  readonly clock: Clock;
  /** Reads what the engine cannot know about its process. Default: nothing. */
  readonly outside?: (() => OutsideFacts) | undefined;
}

/**
 * Records what happens in a bridge, series of its counters and the conditions that hold, for operators who have no
 * monitoring system. Takes at most 16 MB. Disposing it ends its timers.
 */
export interface Recorder extends Disposable {
  /**
   * The series of the process, a route or one of its bindings. `undefined` if there is none: only the first 200
   * bindings have series.
   */
  series(window: SeriesWindow, routeId?: string, bindingId?: string): SeriesView | undefined;
  /** The conditions that hold, gravest first. */
  conditions(): readonly Condition[];
  /** The last 200 conditions that have ended, newest first. */
  pastConditions(): readonly Condition[];
  /** Grows whenever a condition begins or ends. */
  readonly changes: number;
}

export function createRecorder(options: RecorderOptions): Recorder {
  return new BridgeRecorder(options);
}

class BridgeRecorder implements Recorder {
  readonly #options: RecorderOptions;
  readonly #series: Series;
  readonly #conditions: Conditions;
  readonly #growth: RecentGrowth;
  readonly #sends: SendWindow;
  readonly #timers: readonly Disposable[];
  readonly #ending = new AbortController();
  /** The number of dead letters when last counted. */
  #deadLetters: number | undefined;
  #outboxAges: readonly { readonly routeId: string; readonly bindingId: string; readonly seconds: number }[] = [];

  constructor(options: RecorderOptions) {
    const { supervisor, clock } = options;
    this.#options = options;
    this.#series = new Series(clock, supervisor.stats().legs);
    this.#conditions = new Conditions(clock);
    this.#growth = new RecentGrowth(clock);
    this.#sends = new SendWindow(clock);
    this.#timers = [
      clock.every(TICK_MS, () => this.#series.tick(supervisor.stats().legs, this.#deadLetters)),
      clock.every(LOOK_MS, () => this.#look()),
      clock.every(OUTBOX_LOOK_MS, () => void this.#lookIntoOutbox()),
      clock.every(DLQ_LOOK_MS, () => void this.#countDeadLetters()),
    ];
    void this.#countDeadLetters();
  }

  get changes(): number {
    return this.#conditions.changes;
  }

  series(window: SeriesWindow, routeId?: string, bindingId?: string): SeriesView | undefined {
    return this.#series.read(window, routeId, bindingId);
  }

  conditions(): readonly Condition[] {
    return this.#conditions.current;
  }

  pastConditions(): readonly Condition[] {
    return this.#conditions.past;
  }

  [Symbol.dispose](): void {
    this.#ending.abort(new Error("the recorder has ended"));
    for (const timer of this.#timers) timer[Symbol.dispose]();
  }

  #look(): void {
    const { supervisor, clock, outside = () => ({ now: clock.now() }) } = this.#options;
    const config = supervisor.config();
    const stats = supervisor.stats();
    const depths = new Map(
      config.routes
        .filter(({ deliveryMode }) => deliveryMode === "shared_outbox")
        .map(({ id, policy }) => [id, policy.maxOutboxDepth] as const),
    );
    this.#sends.look(stats.legs);
    this.#growth.begin();
    this.#conditions.look({
      view: supervisor.view(),
      stats,
      outside: outside(),
      grown: (key, value, withinMs) => this.#growth.within(key, value, withinMs),
      sends: this.#sends.read(),
      outboxAges: this.#outboxAges,
      maxOutboxDepth: (routeId) => depths.get(routeId),
      exclusive: new Set(config.sessions.filter(({ sessionMode }) => sessionMode === "exclusive").map(({ id }) => id)),
    });
    this.#growth.end();
  }

  async #countDeadLetters(): Promise<void> {
    const { supervisor, clock } = this.#options;
    const store = supervisor.dlq();
    if (store === undefined) {
      this.#deadLetters = undefined;
      return;
    }
    using limit = deadline(clock, DLQ_TIMEOUT_MS, new Error("the DLQ store did not answer"));
    const signal = AbortSignal.any([limit.signal, this.#ending.signal]);
    try {
      const request = { query: {}, by: ["category"], maxGroups: 1, buckets: 0 } as const;
      this.#deadLetters = (await store.facets?.(request, signal))?.total ?? (await store.count(DLQ_CAP, signal));
    } catch {
      // A store that does not answer is a condition of its own.
      this.#deadLetters = undefined;
    }
  }

  async #lookIntoOutbox(): Promise<void> {
    const { supervisor, clock } = this.#options;
    const store = supervisor.outbox();
    if (store === undefined) {
      this.#outboxAges = [];
      return;
    }
    using limit = deadline(clock, OUTBOX_TIMEOUT_MS, new Error("the outbox store did not answer"));
    try {
      const backlog = await store.backlog(AbortSignal.any([limit.signal, this.#ending.signal]));
      this.#outboxAges = backlog.map(({ routeId, bindingId, oldestCreatedAt }) => ({
        routeId,
        bindingId,
        seconds: (clock.now() - oldestCreatedAt) / 1_000,
      }));
    } catch {
      // A store that does not answer is a condition of its own.
    }
  }
}
