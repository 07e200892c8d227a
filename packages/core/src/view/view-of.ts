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

/** A spoiled record of an outbox is a message that nobody delivers, until somebody says that he knows of it; a dead letter waits for nobody. */
function isSound({ role, state, setAside, spoiled = 0 }: StoreView): boolean {
  return state === "up" && setAside.length === 0 && (role !== "outbox" || spoiled === 0);
}

/**
 * Everything the monitor tells, from the configuration in force and the runtime as it is now. What has to do with each
 * session or route is read when somebody looks at it, once: a probe asks for a word, and not for thousands of routes.
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

/** What `read` gives when it is first asked for. */
function once<Value extends {}>(read: () => Value): () => Value {
  let value: Value | undefined;
  return () => (value ??= read());
}

/**
 * How a route gets on is judged when somebody looks, and once: probes do not, and of a thousand routes it would take longer
 * than all the rest.
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

/** Spec 2.1: without exclusive sessions `standalone`; with one leased `active`; else `standby`. */
function roleOf(config: BridgeConfig, sessions: readonly SessionView[]): Role {
  if (config.sessions.every((session) => session.sessionMode !== "exclusive")) return "standalone";
  return sessions.some((session) => session.hasLease) ? "active" : "standby";
}

/** A session is the sum of its two links. One that nothing names is not connected, so there is nothing to tell. */
function sessionViews(links: readonly Link[], config: BridgeConfig): readonly SessionView[] {
  const named = namedSessions(config);
  const sessions = config.sessions.filter(({ id }) => named.has(id));
  const linksOf = Map.groupBy(links, ({ sessionId }) => sessionId);
  return sessions.map(({ id }) => {
    const own = linksOf.get(id) ?? [];
    const lease = own.find((link) => link.lease !== undefined)?.lease;
    // Asked first: it closes its links when its time is over.
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

/** The sessions that anything names. Kept, as a configuration does not change and probes ask again and again. */
function namedSessions(config: BridgeConfig): ReadonlySet<string | undefined> {
  let named = namedOf.get(config);
  if (named === undefined) {
    named = new Set([...config.receivers, ...config.senders, ...config.bindings].map((part) => part.sessionId));
    namedOf.set(config, named);
  }
  return named;
}
