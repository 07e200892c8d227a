import type { DeliveryMode, DispatchMode, RoutePolicy, StoreRole } from "@bridge/config";
import type { OutboxBacklog, StoreHealth } from "@bridge/ports";
import type { SupervisorState } from "../supervisor/contract.ts";
import type { Judgement } from "./progress.ts";

/** From least to most strict (spec 2.1). */
export const READINESS_LEVELS = ["live", "running", "connected", "subscribed", "full"] as const;
export type ReadinessLevel = (typeof READINESS_LEVELS)[number];

export type HealthStatus = "ok" | "unhealthy" | "not_running" | "unavailable";
export type Role = "active" | "standby" | "standalone";
export type ServiceLevel = "full" | "degraded" | "none";

/** Everything that the monitor reports (spec 2.2 to 2.6). */
export interface BridgeView {
  readonly instanceId: string;
  readonly configVersion: number;
  readonly state: SupervisorState["kind"];
  /** Whether a runtime carries messages. */
  readonly running: boolean;
  readonly health: HealthStatus;
  readonly role: Role;
  readonly level: ReadinessLevel;
  /** Whether there are neither routes nor sessions. */
  readonly empty: boolean;
  readonly serviceLevel: ServiceLevel;
  /** The routes of the configuration in force, also while stopped. */
  readonly routes: readonly RouteView[];
  readonly sessions: readonly SessionView[];
  /** The configured stores, by role. */
  readonly stores: readonly StoreView[];
  /** The background components that have failed, and why. */
  readonly failures: readonly ComponentFailure[];
  /** Parts of the configuration in force that only a restart of the process applies, such as `http` (spec 2.6). */
  readonly restartRequired: readonly string[];
  /** What the outbox holds for routes and bindings that are not configured. */
  readonly undelivered: readonly Pick<OutboxBacklog, "routeId" | "bindingId" | "depth">[];
  /** Why the newest accepted configuration is not in force; absent if it is, or its turn has not come. */
  readonly refusedChange?: string;
}

export interface RouteView {
  readonly id: string;
  readonly deliveryMode: DeliveryMode;
  readonly dispatchMode: DispatchMode;
  readonly policy: RoutePolicy;
  /** Whether an operator has paused it. */
  readonly paused: boolean;
  /** As of the first read; absent while the bridge does not run. */
  readonly progress?: RouteProgress | undefined;
}

/** A route's progress, and what stands in its way. */
export interface RouteProgress extends Judgement {
  /** When this state began, in epoch milliseconds. */
  readonly since: number;
  /** How long the oldest delivery has been unsettled, in milliseconds; 0 if there is none. */
  readonly oldestUnsettledMs: number;
  /** The share of the attempts of the last minute that failed, from 0 to 1; absent if there were none. */
  readonly failureShare?: number;
}

export interface SessionView {
  readonly sessionId: string;
  readonly connected: boolean;
  readonly hasLease: boolean;
  /** Whether another instance was seen to hold its lease and to be alive. */
  readonly leasedElsewhere: boolean;
  readonly subscriptionsWanted: number;
  readonly subscriptionsActive: number;
  readonly ready: boolean;
  readonly serviceLevel: ServiceLevel;
}

/**
 * `opening`: not open yet and being retried, or not checked yet since a change; `faulty`: open, but takes nothing;
 * `closed`: not meant to be open.
 */
export type StoreState = "closed" | "opening" | "up" | "faulty";

export interface StoreView extends StoreHealth {
  readonly role: StoreRole;
  readonly type: string;
  readonly state: StoreState;
  /** When this state began, in epoch milliseconds. Absent while closed. */
  readonly since?: number;
  /** False until first opened, and while it cannot be opened. */
  readonly open: boolean;
}

export interface ComponentFailure {
  readonly component: string;
  readonly error: string;
}
