import {
  type BridgeStats,
  type LegReading,
  legReading,
  type LegStats,
  sendQuantile,
  type Supervisor,
} from "@bridge/core";
import type { Clock, DlqStore } from "@bridge/ports";
import { deadline, formatTimestamp, Slices } from "@bridge/ports/internal";
import * as v from "valibot";

/** One that is younger is good for whoever asks. */
const FRESH_MS = 900;
/** Rates over more than this would be of the past. */
const STALE_MS = 5_000;
const DLQ_EVERY_MS = 5_000;
const DLQ_TIMEOUT_MS = 5_000;
/** A store that has no groups counts up to this. */
const DLQ_CAP = 1_000;

const count = v.pipe(v.number(), v.integer());

const overviewBinding = v.object({
  id: v.string(),
  out: v.number(),
  failed: v.number(),
  dead: v.number(),
  in_outbox: count,
  p99_ms: v.optional(v.number()),
});

const overviewRoute = v.object({
  id: v.string(),
  in: v.number(),
  in_flight: count,
  paused: v.optional(v.literal(true)),
  progress: v.optional(v.string()),
  bindings: v.array(overviewBinding),
});

const overviewSession = v.object({
  id: v.string(),
  connected: v.boolean(),
  has_lease: v.boolean(),
  service_level: v.string(),
});

/** All of it at first, then what has changed. Rates are a second. */
export const overview = v.object({
  t: v.pipe(v.string(), v.metadata({ format: "date-time" })),
  state: v.optional(v.string()),
  level: v.optional(v.string()),
  role: v.optional(v.string()),
  unaccounted: v.optional(count),
  routes: v.pipe(v.optional(v.array(overviewRoute)), v.description("Those that are not as they were, as a whole.")),
  gone_routes: v.optional(v.array(v.string())),
  sessions: v.optional(v.array(overviewSession)),
  gone_sessions: v.optional(v.array(v.string())),
  dlq: v.optional(v.object({ total: count, exact: v.boolean() })),
});

type OverviewRoute = v.InferOutput<typeof overviewRoute>;
type OverviewSession = v.InferOutput<typeof overviewSession>;
export type Overview = v.InferOutput<typeof overview>;

/** What one look has found. What is as it was at the look before is the same object. */
export interface OverviewLook {
  readonly at: number;
  readonly state: string;
  readonly level: string;
  readonly role: string;
  readonly unaccounted: number;
  readonly routes: ReadonlyMap<string, OverviewRoute>;
  readonly sessions: ReadonlyMap<string, OverviewSession>;
  readonly dlq: Overview["dlq"];
}

interface Kept {
  readonly look: OverviewLook;
  readonly legs: ReadonlyMap<string, LegReading>;
  /** Monotonic milliseconds. */
  readonly at: number;
}

/** Looks at the bridge for all who ask, once a second at most; while nobody asks it does nothing. */
export class OverviewSource {
  readonly #supervisor: () => Supervisor;
  readonly #clock: Clock;
  #kept: Kept | undefined;
  #looking: Promise<OverviewLook> | undefined;
  #dlq: Overview["dlq"];
  #dlqAt = Number.NEGATIVE_INFINITY;

  constructor(supervisor: () => Supervisor, clock: Clock) {
    this.#supervisor = supervisor;
    this.#clock = clock;
  }

  async look(signal: AbortSignal): Promise<OverviewLook> {
    const kept = this.#kept;
    if (kept !== undefined && this.#clock.monotonic() - kept.at < FRESH_MS) return kept.look;
    this.#looking ??= this.#look(signal).finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #look(signal: AbortSignal): Promise<OverviewLook> {
    const supervisor = this.#supervisor();
    await this.#countDeadLetters(supervisor.dlq(), signal);
    const now = this.#clock.monotonic();
    const stats = supervisor.stats();
    const view = supervisor.view();
    const before = this.#kept !== undefined && now - this.#kept.at < STALE_MS ? this.#kept : undefined;
    const legs = new Map(stats.legs.map((leg) => [keyOf(leg), legReading(leg)] as const));
    const slices = new Slices(this.#clock);
    const rates = new Rates(stats, legs, before, now);
    const routes = new Map<string, OverviewRoute>();
    const bindingsOf = new Map(supervisor.config().routes.map(({ id, bindings }) => [id, new Set(bindings)] as const));
    const none: ReadonlySet<string> = new Set();
    for (const route of await slices.map(view.routes, (one) => rates.route(one, bindingsOf.get(one.id) ?? none)))
      routes.set(route.id, same(this.#kept?.look.routes.get(route.id), route));
    const sessions = new Map(
      view.sessions.map(({ sessionId: id, connected, hasLease, serviceLevel }) => {
        const session = { id, connected, has_lease: hasLease, service_level: serviceLevel };
        return [id, same(this.#kept?.look.sessions.get(id), session)] as const;
      }),
    );
    const look: OverviewLook = {
      at: this.#clock.now(),
      state: view.state,
      level: view.level,
      role: view.role,
      unaccounted: stats.unaccounted,
      routes,
      sessions,
      dlq: this.#dlq,
    };
    this.#kept = { look, legs, at: now };
    return look;
  }

  /** Now and then, because it may cost money. */
  async #countDeadLetters(store: DlqStore | undefined, signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    if (store === undefined || now - this.#dlqAt < DLQ_EVERY_MS) {
      if (store === undefined) this.#dlq = undefined;
      return;
    }
    this.#dlqAt = now;
    using limit = deadline(this.#clock, DLQ_TIMEOUT_MS, new Error("the DLQ store did not answer"));
    try {
      const total = await countOf(store, AbortSignal.any([signal, limit.signal]));
      this.#dlq = this.#dlq === undefined ? total : same(this.#dlq, total);
    } catch {
      // That a store does not answer is a condition of its own.
      this.#dlq = undefined;
    }
  }
}

async function countOf(store: DlqStore, signal: AbortSignal): Promise<NonNullable<Overview["dlq"]>> {
  if (store.facets === undefined) {
    const total = await store.count(DLQ_CAP, signal);
    return { total, exact: total < DLQ_CAP };
  }
  const { total, exact } = await store.facets({ query: {}, by: ["category"], maxGroups: 1, buckets: 0 }, signal);
  return { total, exact };
}

/** What has happened a second since the look before. */
class Rates {
  readonly #legs: ReadonlyMap<string, LegReading>;
  readonly #before: Kept | undefined;
  readonly #perSecond: number;
  readonly #byRoute: ReadonlyMap<string, readonly LegStats[]>;
  readonly #inFlight: ReadonlyMap<string, number>;

  constructor(stats: BridgeStats, legs: ReadonlyMap<string, LegReading>, before: Kept | undefined, now: number) {
    this.#legs = legs;
    this.#before = before;
    this.#perSecond = before === undefined ? 0 : 1_000 / Math.max(1, now - before.at);
    this.#byRoute = Map.groupBy(stats.legs, ({ routeId }) => routeId);
    this.#inFlight = new Map(stats.routes.map(({ routeId, inFlight }) => [routeId, inFlight] as const));
  }

  route(
    route: {
      readonly id: string;
      readonly paused: boolean;
      readonly progress?: { readonly progress: string } | undefined;
    },
    bound: ReadonlySet<string>,
  ): OverviewRoute {
    const { id, paused, progress } = route;
    const legs = this.#byRoute.get(id) ?? [];
    return {
      id,
      in: this.#rate(legs, "in"),
      in_flight: this.#inFlight.get(id) ?? 0,
      ...(paused && { paused }),
      ...(progress !== undefined && { progress: progress.progress }),
      bindings: legs.filter(({ bindingId }) => bound.has(bindingId)).map((leg) => this.#binding(leg)),
    };
  }

  #binding(leg: LegStats): v.InferOutput<typeof overviewBinding> {
    const [before, now] = [this.#before?.legs.get(keyOf(leg)), this.#legs.get(keyOf(leg))];
    const p99Ms = before && now && sendQuantile(0.99, before, now);
    return {
      id: leg.bindingId,
      out: this.#rate([leg], "out"),
      failed: this.#rate([leg], "failed"),
      dead: this.#rate([leg], "dead"),
      in_outbox: leg.inOutbox,
      ...(p99Ms !== undefined && { p99_ms: tenths(p99Ms) }),
    };
  }

  #rate(legs: readonly LegStats[], of: "in" | "out" | "failed" | "dead"): number {
    if (this.#before === undefined) return 0;
    let grown = 0;
    for (const leg of legs) {
      const key = keyOf(leg);
      grown += (this.#legs.get(key)?.[of] ?? 0) - (this.#before.legs.get(key)?.[of] ?? 0);
    }
    return tenths(grown * this.#perSecond);
  }
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The one before, if it says the same. */
function same<One>(before: One | undefined, now: One): One {
  return before !== undefined && JSON.stringify(before) === JSON.stringify(now) ? before : now;
}

function keyOf({ routeId, bindingId }: LegStats): string {
  return JSON.stringify([routeId, bindingId]);
}

function gone(was: ReadonlyMap<string, unknown> | undefined, is: ReadonlyMap<string, unknown>): string[] {
  return [...(was?.keys() ?? [])].filter((id) => !is.has(id));
}

/** What `now` has that `before` has not; everything without a `before`. `undefined` when nothing is different. */
export function overviewSince(before: OverviewLook | undefined, now: OverviewLook): Overview | undefined {
  const words = (["state", "level", "role", "unaccounted"] as const).filter((name) => before?.[name] !== now[name]);
  const routes = [...now.routes.values()].filter((route) => before?.routes.get(route.id) !== route);
  const sessions = [...now.sessions.values()].filter((session) => before?.sessions.get(session.id) !== session);
  const [goneRoutes, goneSessions] = [gone(before?.routes, now.routes), gone(before?.sessions, now.sessions)];
  const changed: Omit<Overview, "t"> = {
    ...Object.fromEntries(words.map((name) => [name, now[name]])),
    ...(routes.length > 0 && { routes }),
    ...(goneRoutes.length > 0 && { gone_routes: goneRoutes }),
    ...(sessions.length > 0 && { sessions }),
    ...(goneSessions.length > 0 && { gone_sessions: goneSessions }),
    ...(now.dlq !== undefined && before?.dlq !== now.dlq && { dlq: now.dlq }),
  };
  return Object.keys(changed).length === 0 ? undefined : { t: formatTimestamp(now.at), ...changed };
}
