import type { BridgeConfig } from "@bridge/config";
import type { Controls } from "../control/controls.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Link } from "../session/link.ts";
import type { SupervisorState } from "../supervisor/contract.ts";
import type { BridgeView, HealthStatus, Role, SessionView, StoreView } from "./bridge-view.ts";
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

/** Everything the monitor tells, from the configuration in force and the runtime as it is now. */
export function viewOf(facts: ViewFacts): BridgeView {
  const { instanceId, config, state, runtime, controls, stores, restartRequired, refusedChange, undelivered } = facts;
  const running = (state === "running" || state === "swapping") && runtime !== undefined && runtime.running;
  const failures = runtime?.failures ?? [];
  const sessions = sessionViews(running ? runtime.links : [], config);
  const role = roleOf(config, sessions);
  const routes = config.routes.map(({ id }) => {
    const route = running ? runtime.route(id) : undefined;
    return route?.able === true || route?.elsewhere === true;
  });
  const stored = stores.every(
    (store) => store.state === "up" && store.setAside.length === 0 && (store.spoiled ?? 0) === 0,
  );
  return {
    instanceId,
    configVersion: config.configVersion,
    state,
    running,
    health: healthOf(state, running, failures.length === 0),
    role,
    level: readinessLevel({ running, healthy: failures.length === 0, stored, role, sessions, routes }),
    empty: config.routes.length === 0 && config.sessions.length === 0,
    serviceLevel: aggregateServiceLevel(sessions.map((session) => session.serviceLevel)),
    routes: config.routes.map(({ id, deliveryMode, dispatchMode, policy }) => {
      const progress = running ? runtime.route(id)?.progress : undefined;
      const paused = controls.paused(id);
      return { id, deliveryMode, dispatchMode, policy, paused, ...(progress !== undefined && { progress }) };
    }),
    sessions,
    stores,
    failures,
    restartRequired,
    undelivered: undelivered.map(({ routeId, bindingId, depth }) => ({ routeId, bindingId, depth })),
    ...(refusedChange !== undefined && { refusedChange }),
  };
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
  const named = new Set([...config.receivers, ...config.senders, ...config.bindings].map((part) => part.sessionId));
  const sessions = config.sessions.filter(({ id }) => named.has(id));
  return sessions.map(({ id }) => {
    const own = links.filter((link) => link.sessionId === id);
    const facts = {
      connected: own.length > 0 && own.every((link) => link.connected),
      subscriptionsWanted: own.reduce((sum, link) => sum + link.subscriptionsWanted, 0),
      subscriptionsActive: own.reduce((sum, link) => sum + link.subscriptionsActive, 0),
    };
    const level = serviceLevel(facts);
    const lease = own.find((link) => link.lease !== undefined)?.lease;
    return {
      sessionId: id,
      ...facts,
      hasLease: lease?.held === true,
      leasedElsewhere: lease?.elsewhere === true,
      ready: level === "full",
      serviceLevel: level,
    };
  });
}
