import type { BridgeConfig, RouteConfig } from "@bridge/config";
import type { Controls } from "../control/controls.ts";
import type { Route } from "../route/route.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Link } from "../session/link.ts";
import type { SupervisorState } from "../supervisor/contract.ts";
import type {
  BridgeView,
  HealthStatus,
  Role,
  RouteProgress,
  RouteView,
  SessionView,
  StoreView,
} from "./bridge-view.ts";
import { aggregateServiceLevel, readinessLevel, serviceLevel } from "./readiness.ts";

export interface ViewFacts {
  readonly instanceId: string;
  readonly config: BridgeConfig;
  readonly state: SupervisorState["kind"];
  readonly runtime: Runtime | undefined;
  readonly controls: Controls;
  readonly stores: readonly StoreView[];
  readonly restartRequired: readonly string[];
  readonly undelivered: BridgeView["undelivered"];
  readonly refusedChange: string | undefined;
}

/**
 * A spoiled outbox record is a message that nobody delivers until an operator has acknowledged it; nobody waits for a
 * spoiled dead letter.
 */
function isSound({ role, state, setAside, spoiled = 0 }: StoreView): boolean {
  return state === "up" && setAside.length === 0 && (role !== "outbox" || spoiled === 0);
}

/**
 * Builds everything that the monitor reports, from the configuration in force and the runtime as it is now. Per-session
 * and per-route values are computed on first access: a probe needs one word, not thousands of routes.
 */
export function viewOf(facts: ViewFacts): BridgeView {
  const { instanceId, config, state, runtime, controls, stores, restartRequired, refusedChange, undelivered } = facts;
  const running = (state === "running" || state === "swapping") && runtime !== undefined && runtime.running;
  const failures = runtime?.failures ?? [];
  const healthy = failures.length === 0;
  const stored = stores.every(isSound);
  const sessions = once(() => sessionViews(running ? runtime.links : [], config));
  const role = once(() => roleOf(config, sessions()));
  const routes = once(() => config.routes.map((route) => new LazyRouteView(route, controls, running, runtime)));
  const level = once(() => {
    const able = config.routes.map(({ id }) => {
      const route = running ? runtime.route(id) : undefined;
      return route?.able === true || route?.elsewhere === true;
    });
    return readinessLevel({ running, healthy, stored, role: role(), sessions: sessions(), routes: able });
  });
  return {
    instanceId,
    configVersion: config.configVersion,
    state,
    running,
    health: healthOf(state, running, healthy),
    empty: config.routes.length === 0 && config.sessions.length === 0,
    get role() {
      return role();
    },
    get level() {
      return level();
    },
    get serviceLevel() {
      return aggregateServiceLevel(sessions().map((session) => session.serviceLevel));
    },
    get routes() {
      return routes();
    },
    get sessions() {
      return sessions();
    },
    stores,
    failures,
    restartRequired,
    undelivered: undelivered.map(({ routeId, bindingId, depth }) => ({ routeId, bindingId, depth })),
    ...(refusedChange !== undefined && { refusedChange }),
  };
}

/** Calls `read` on first use, and caches the value. */
function once<Value extends {}>(read: () => Value): () => Value {
  let value: Value | undefined;
  return () => (value ??= read());
}

/**
 * Judges a route's progress on first access only. Probes do not need it, and for a thousand routes it would take longer
 * than everything else.
 */
class LazyRouteView implements RouteView {
  readonly id: string;
  readonly deliveryMode: RouteView["deliveryMode"];
  readonly dispatchMode: RouteView["dispatchMode"];
  readonly policy: RouteView["policy"];
  readonly paused: boolean;
  #route: Route | undefined;
  #progress: RouteProgress | undefined;

  constructor(config: RouteConfig, controls: Controls, running: boolean, runtime: Runtime | undefined) {
    this.id = config.id;
    this.deliveryMode = config.deliveryMode;
    this.dispatchMode = config.dispatchMode;
    this.policy = config.policy;
    this.paused = controls.paused(config.id);
    this.#route = running ? runtime?.route(config.id) : undefined;
  }

  get progress(): RouteProgress | undefined {
    this.#progress ??= this.#route?.progress;
    this.#route = undefined;
    return this.#progress;
  }
}

function healthOf(state: SupervisorState["kind"], running: boolean, healthy: boolean): HealthStatus {
  if (state === "unwired") return "unavailable";
  if (!running) return "not_running";
  return healthy ? "ok" : "unhealthy";
}

/** Spec 2.1: `standalone` without exclusive sessions; `active` while holding the lease of one; else `standby`. */
function roleOf(config: BridgeConfig, sessions: readonly SessionView[]): Role {
  if (config.sessions.every((session) => session.sessionMode !== "exclusive")) return "standalone";
  return sessions.some((session) => session.hasLease) ? "active" : "standby";
}

/** A session is the sum of its two links. One that nothing names is not connected, and is left out. */
function sessionViews(links: readonly Link[], config: BridgeConfig): readonly SessionView[] {
  const named = namedSessions(config);
  const sessions = config.sessions.filter(({ id }) => named.has(id));
  const linksOf = Map.groupBy(links, ({ sessionId }) => sessionId);
  return sessions.map(({ id }) => {
    const own = linksOf.get(id) ?? [];
    const lease = own.find((link) => link.lease !== undefined)?.lease;
    // Read first: if the lease has run out, this closes its links.
    const hasLease = lease?.held === true;
    const facts = {
      connected: own.length > 0 && own.every((link) => link.connected),
      subscriptionsWanted: own.reduce((sum, link) => sum + link.subscriptionsWanted, 0),
      subscriptionsActive: own.reduce((sum, link) => sum + link.subscriptionsActive, 0),
    };
    const level = serviceLevel(facts);
    return {
      sessionId: id,
      ...facts,
      hasLease,
      leasedElsewhere: lease?.elsewhere === true,
      ready: level === "full",
      serviceLevel: level,
    };
  });
}

const namedOf = new WeakMap<BridgeConfig, ReadonlySet<string | undefined>>();

/** The sessions that a part names. Cached, because a configuration never changes and probes ask often. */
function namedSessions(config: BridgeConfig): ReadonlySet<string | undefined> {
  let named = namedOf.get(config);
  if (named === undefined) {
    named = new Set([...config.receivers, ...config.senders, ...config.bindings].map((part) => part.sessionId));
    namedOf.set(config, named);
  }
  return named;
}
