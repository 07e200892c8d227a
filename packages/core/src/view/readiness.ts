import type { ReadinessLevel, Role, ServiceLevel, SessionView } from "./bridge-view.ts";

/** The facts that readiness is judged by. */
export interface ReadinessFacts {
  /** Whether a runtime carries messages: started, and not stopping. */
  readonly running: boolean;
  /** Whether no background component has failed. */
  readonly healthy: boolean;
  readonly role: Role;
  readonly sessions: readonly SessionView[];
  /** Whether every store accepts writes, and has lost nothing that no operator has acknowledged. */
  readonly stored: boolean;
  /** For each route: whether messages can pass right now, or another instance is in charge of it. */
  readonly routes: readonly boolean[];
}

/** The achieved readiness level (spec 3.2): a pure function of facts. */
export function readinessLevel(facts: ReadinessFacts): ReadinessLevel {
  if (!facts.running) return "live";
  if (facts.routes.length === 0 && facts.sessions.length === 0) return "running";
  // Ignore sessions that another live instance leases (contract §4).
  const ours = facts.sessions.filter((session) => !session.leasedElsewhere);
  if (!ours.every((session) => session.connected)) return "running";
  if (!ours.every((session) => session.ready)) return "connected";
  const full = facts.healthy && facts.stored && facts.role !== "standby" && facts.routes.every(Boolean);
  return full ? "full" : "subscribed";
}

/** One session's level: `full` when connected with all wanted subscriptions, `degraded` with some of them, else `none`. */
export function serviceLevel(session: {
  readonly connected: boolean;
  readonly subscriptionsWanted: number;
  readonly subscriptionsActive: number;
}): ServiceLevel {
  if (!session.connected) return "none";
  if (session.subscriptionsActive >= session.subscriptionsWanted) return "full";
  return session.subscriptionsActive > 0 ? "degraded" : "none";
}

/** The level over all sessions: `full` if all are full or there are none; `none` if all are `none`; else `degraded`. */
export function aggregateServiceLevel(sessions: readonly ServiceLevel[]): ServiceLevel {
  if (sessions.every((level) => level === "full")) return "full";
  return sessions.every((level) => level === "none") ? "none" : "degraded";
}
