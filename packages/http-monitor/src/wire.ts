/**
 * From what the engine tells to what clients read: the only place that knows both spellings. @module
 */
import type { BridgeView, RouteProgress, RouteView, SessionView } from "@bridge/core";
import type { Probation } from "@bridge/ports";
import type { Slices } from "@bridge/ports/internal";
import type { InferOutput } from "valibot";
import type { ConfigWatch } from "./config-watch.ts";
import type { KeyRefresh } from "./key-refresh.ts";
import type * as schemas from "./schemas.ts";

export async function topologyToWire(view: BridgeView, slices: Slices): Promise<InferOutput<typeof schemas.topology>> {
  return {
    instance_id: view.instanceId,
    running: view.running,
    config_version: view.configVersion,
    routes: await slices.map(view.routes, (route) => ({
      id: route.id,
      delivery_mode: route.deliveryMode,
      dispatch_mode: route.dispatchMode,
    })),
  };
}

export function routeToWire(route: RouteView): InferOutput<typeof schemas.route> {
  const { id, deliveryMode, dispatchMode, policy, progress } = route;
  return {
    id,
    delivery_mode: deliveryMode,
    dispatch_mode: dispatchMode,
    max_in_flight: policy.maxInFlight,
    max_replay: policy.maxReplayAttempts,
    ack_after: policy.ackAfter,
    on_expired: policy.onExpired,
    on_perm_failure: policy.onPermanentFailure,
    on_filtered: policy.onFiltered,
    ...progressToWire(progress),
  };
}

function progressToWire(progress: RouteProgress | undefined): InferOutput<typeof schemas.routeProgress> {
  if (progress === undefined) return {};
  const { reason, failureShare } = progress;
  return {
    progress: progress.progress,
    since: new Date(progress.since).toISOString(),
    ...(reason !== undefined && { reason }),
    oldest_unsettled_seconds: progress.oldestUnsettledMs / 1_000,
    ...(failureShare !== undefined && { failure_share: failureShare }),
  };
}

export async function deepHealthToWire(
  view: BridgeView,
  watch: ConfigWatch | undefined,
  keys: KeyRefresh | undefined,
  auditFaults: ReadonlyMap<string, string>,
  slices: Slices,
): Promise<InferOutput<typeof schemas.deepHealth>> {
  return {
    running: view.running,
    healthy: view.health === "ok",
    instance_id: view.instanceId,
    config_version: view.configVersion,
    role: view.role,
    ready_for_traffic: view.level === "full",
    empty: view.empty,
    service_level: view.serviceLevel,
    level: view.level,
    sessions: await slices.map(view.sessions, sessionToWire),
    routes: await slices.map(view.routes, ({ id, deliveryMode, paused, progress }) => ({
      id,
      delivery_mode: deliveryMode,
      ...(paused && { paused }),
      ...progressToWire(progress),
    })),
    stores: view.stores.map(({ role, type, state, since, open, fault, setAside, spoiled = 0 }) => ({
      role,
      type,
      state,
      ...(since !== undefined && { since: new Date(since).toISOString() }),
      open,
      ...(fault !== undefined && { fault }),
      ...(setAside.length > 0 && { set_aside: [...setAside] }),
      ...(spoiled > 0 && { spoiled }),
    })),
    ...(view.undelivered.length > 0 && {
      undelivered: await slices.map(view.undelivered, ({ routeId, bindingId, depth }) => ({
        route_id: routeId,
        binding_id: bindingId,
        waiting: depth,
      })),
    }),
    ...(watch !== undefined && { config_watch: configWatchToWire(watch) }),
    ...(watch?.probation !== undefined && { probation: probationToWire(watch.probation) }),
    ...(keys !== undefined && { api_keys: keyRefreshToWire(keys) }),
    ...(auditFaults.size > 0 && { audit_faults: Array.from(auditFaults, ([sink, error]) => ({ sink, error })) }),
  };
}

function sessionToWire(session: SessionView): InferOutput<typeof schemas.session> {
  return {
    session_id: session.sessionId,
    connected: session.connected,
    has_lease: session.hasLease,
    subscriptions_wanted: session.subscriptionsWanted,
    subscriptions_active: session.subscriptionsActive,
    ready: session.ready,
    service_level: session.serviceLevel,
  };
}

function configWatchToWire({
  source,
  version,
  lastReloadAt,
  reloadingSince,
  lastError,
  restartRequired,
  staged,
}: ConfigWatch): InferOutput<typeof schemas.deepHealth>["config_watch"] {
  return {
    source,
    version,
    ...(lastReloadAt !== undefined && { last_reload_at: new Date(lastReloadAt).toISOString() }),
    ...(reloadingSince !== undefined && { reloading_since: new Date(reloadingSince).toISOString() }),
    ...(lastError !== undefined && { last_error: lastError }),
    ...(restartRequired !== undefined && { restart_required: restartRequired }),
    ...(staged !== undefined && {
      staged: {
        version: staged.version,
        instance_id: staged.by,
        since: new Date(staged.at).toISOString(),
        ...(staged.until !== undefined && { confirm_by: new Date(staged.until).toISOString() }),
      },
    }),
  };
}

function probationToWire({
  version,
  formerVersion,
  confirmBy,
  guard,
}: Probation): InferOutput<typeof schemas.deepHealth>["probation"] {
  const { level, levelForMs, failureRatio, minSends } = guard ?? {};
  return {
    version,
    former_version: formerVersion,
    confirm_by: new Date(confirmBy).toISOString(),
    ...(guard !== undefined && {
      guard: {
        ...(level !== undefined && { level }),
        ...(levelForMs !== undefined && { level_for_ms: levelForMs }),
        ...(failureRatio !== undefined && { failure_ratio: failureRatio }),
        ...(minSends !== undefined && { min_sends: minSends }),
      },
    }),
  };
}

function keyRefreshToWire({
  lastRefreshAt,
  failures,
  lastError,
}: KeyRefresh): InferOutput<typeof schemas.deepHealth>["api_keys"] {
  return {
    last_refresh_at: new Date(lastRefreshAt).toISOString(),
    failures,
    ...(lastError !== undefined && { last_error: lastError }),
  };
}
