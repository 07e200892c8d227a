import type { ReadinessLevel, Role, ServiceLevel, SessionView } from "./bridge-view.ts";

/** What readiness is judged from. */
export interface ReadinessFacts {
  /** Whether a runtime carries messages: started, and not stopping. */
  readonly running: boolean;
  /** Whether no background component has failed. */
  readonly healthy: boolean;
  readonly role: Role;
  readonly sessions: readonly SessionView[];
  /** Whether every store is there to be written to, and has lost nothing that no operator knows of. */
  readonly stored: boolean;
  /** For each route, whether messages can go through right now, or are the business of another instance. */
  readonly routes: readonly boolean[];
}

/** The achieved readiness level (spec 3.2): a pure function of facts. */
export function readinessLevel(facts: ReadinessFacts): ReadinessLevel {
  if (!facts.running) return "live";
  if (facts.routes.length === 0 && facts.sessions.length === 0) return "running";
  // A session that another live instance leases is none of ours (contract §4).
  const ours = facts.sessions.filter((session) => !session.leasedElsewhere);
  if (!ours.every((session) => session.connected)) return "running";
  if (!ours.every((session) => session.ready)) return "connected";
  const full = facts.healthy && facts.stored && facts.role !== "standby" && facts.routes.every(Boolean);
  return full ? "full" : "subscribed";
}

/** One session's level: `full` when connected with all subscriptions wanted, `degraded` with some, else `none`. */
export function serviceLevel(session: {
  readonly connected: boolean;
  readonly subscriptionsWanted: number;
  readonly subscriptionsActive: number;
}): ServiceLevel {
  if (!session.connected) return "none";
  if (session.subscriptionsActive >= session.subscriptionsWanted) return "full";
  return session.subscriptionsActive > 0 ? "degraded" : "none";
}

/** Over all sessions: `full` if all are, or there is none; `none` if all are none; else `degraded`. */
export function aggregateServiceLevel(sessions: readonly ServiceLevel[]): ServiceLevel {
  if (sessions.every((level) => level === "full")) return "full";
  return sessions.every((level) => level === "none") ? "none" : "degraded";
}
