import type { DeliveryMode, DispatchMode, RoutePolicy, StoreRole } from "@bridge/config";
import type { OutboxBacklog, StoreHealth } from "@bridge/ports";
import type { SupervisorState } from "../supervisor/contract.ts";
import type { Judgement } from "./progress.ts";

/** Spec 2.1, least to most strict. */
export const READINESS_LEVELS = ["live", "running", "connected", "subscribed", "full"] as const;
export type ReadinessLevel = (typeof READINESS_LEVELS)[number];

export type HealthStatus = "ok" | "unhealthy" | "not_running" | "unavailable";
export type Role = "active" | "standby" | "standalone";
export type ServiceLevel = "full" | "degraded" | "none";

/** Everything the monitor tells (spec 2.2 to 2.6). */
export interface BridgeView {
  readonly instanceId: string;
  readonly configVersion: number;
  readonly state: SupervisorState["kind"];
  /** Whether a runtime carries messages. */
  readonly running: boolean;
  readonly health: HealthStatus;
  readonly role: Role;
  readonly level: ReadinessLevel;
  /** Neither routes nor sessions. */
  readonly empty: boolean;
  readonly serviceLevel: ServiceLevel;
  /** Of the configuration in force, also while stopped. */
  readonly routes: readonly RouteView[];
  readonly sessions: readonly SessionView[];
  /** Those that are configured, by role. */
  readonly stores: readonly StoreView[];
  /** The background components that have failed, with why. */
  readonly failures: readonly ComponentFailure[];
  /** Parts of the configuration in force that apply only after a restart of the process, such as `http` (spec 2.6). */
  readonly restartRequired: readonly string[];
  /** What the outbox holds of routes and bindings that are not configured. */
  readonly undelivered: readonly Pick<OutboxBacklog, "routeId" | "bindingId" | "depth">[];
  /** Why the newest configuration that was accepted is not in force; absent when it is, or is still to come. */
  readonly refusedChange?: string;
}

export interface RouteView {
  readonly id: string;
  readonly deliveryMode: DeliveryMode;
  readonly dispatchMode: DispatchMode;
  readonly policy: RoutePolicy;
  /** Whether an operator has paused it. */
  readonly paused: boolean;
  /** As of the first look at it; absent while the bridge does not run. */
  readonly progress?: RouteProgress | undefined;
}

/** How a route gets on, and why not. */
export interface RouteProgress extends Judgement {
  /** Since when it has been so; epoch milliseconds. */
  readonly since: number;
  /** How long the oldest delivery has been unsettled; 0 without any. */
  readonly oldestUnsettledMs: number;
  /** Of the attempts that ended in the last minute, the share that failed; absent without any. */
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

/** `opening`: not open yet, and tried until it is, or not asked yet since a change; `faulty`: open, and takes nothing; `closed`: not to be open. */
export type StoreState = "closed" | "opening" | "up" | "faulty";

export interface StoreView extends StoreHealth {
  readonly role: StoreRole;
  readonly type: string;
  readonly state: StoreState;
  /** Since when it is in this state; epoch milliseconds. Absent while it is closed. */
  readonly since?: number;
  /** False until the first start, and while it could not be opened. */
  readonly open: boolean;
}

export interface ComponentFailure {
  readonly component: string;
  readonly error: string;
}
