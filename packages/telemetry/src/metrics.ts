import {
  type BridgeStats,
  type BridgeView,
  DISPOSITIONS,
  type LeaseStats,
  type LegStats,
  READINESS_LEVELS,
  type RouteStats,
  type SessionStats,
  type SessionView,
  type StoreView,
} from "@bridge/core";
import type { MetricType, Sample } from "./exposition.ts";

/** A row of the table: what a metric is called and means, and how it is read. */
export interface Metric {
  readonly name: `bridge_${string}`;
  readonly type: MetricType;
  readonly help: string;
  readonly read: (stats: BridgeStats, view: BridgeView, surroundings: Surroundings) => readonly Sample[];
}

/** What is known around the engine, in the process that it runs in. */
export interface Surroundings {
  /** Audit events that did not reach a sink, by its name. */
  readonly auditFailures?: ReadonlyMap<string, number>;
  /** How often the keys of the servers could not be read again, where they are. */
  readonly keyRefreshFailures?: number | undefined;
  /** What the outbox holds, where that is known. */
  readonly waiting?: readonly Waiting[] | undefined;
}

/** The records of one route and binding that wait in the outbox. */
export interface Waiting {
  readonly routeId: string;
  readonly bindingId: string;
  readonly oldestAgeMs: number;
}

/**
 * Every metric of the bridge. Labels are bounded by the configuration: ids of routes, bindings, sessions and parts,
 * never of messages. A leg is one delivery to one binding; `binding` is empty for what ended before one was chosen.
 */
export const METRICS: readonly Metric[] = [
  {
    name: "bridge_info",
    type: "gauge",
    help: "Always 1; names the instance and its role.",
    read: (_, { instanceId, role }) => [{ labels: { instance_id: instanceId, role }, value: 1 }],
  },
  {
    name: "bridge_running",
    type: "gauge",
    help: "1 while a runtime carries messages.",
    read: (_, view) => flag(view.running),
  },
  {
    name: "bridge_healthy",
    type: "gauge",
    help: "1 while the runtime runs and no background component has failed.",
    read: (_, view) => flag(view.health === "ok"),
  },
  {
    name: "bridge_failed_components",
    type: "gauge",
    help: "Background components that have failed.",
    read: (_, view) => single(view.failures.length),
  },
  {
    name: "bridge_ready",
    type: "gauge",
    help: "1 for each readiness level that is reached.",
    read: (_, view) => {
      const reached = READINESS_LEVELS.indexOf(view.level);
      return READINESS_LEVELS.map((level, index) => ({ labels: { level }, value: Number(index <= reached) }));
    },
  },
  {
    name: "bridge_route_paused",
    type: "gauge",
    help: "1 while an operator has paused the route.",
    read: (_, { routes }) => routes.map(({ id, paused }) => ({ labels: { route: id }, value: Number(paused) })),
  },
  {
    name: "bridge_config_version",
    type: "gauge",
    help: "Version of the configuration in force.",
    read: (_, view) => single(view.configVersion),
  },
  {
    name: "bridge_legs_received_total",
    type: "counter",
    help: "Legs that came from the source.",
    read: perLeg((leg) => leg.received),
  },
  {
    name: "bridge_legs_injected_total",
    type: "counter",
    help: "Legs that came from an inject or a redrive.",
    read: perLeg((leg) => leg.injected),
  },
  {
    name: "bridge_legs_recovered_total",
    type: "counter",
    help: "Legs that were found in the outbox when its store was opened, or put there by other instances and ended here.",
    read: perLeg((leg) => leg.recovered),
  },
  {
    name: "bridge_legs_in_outbox",
    type: "gauge",
    help: "Legs that are persisted and not finished.",
    read: perLeg((leg) => leg.inOutbox),
  },
  {
    name: "bridge_outbox_oldest_age_seconds",
    type: "gauge",
    help: "How long the oldest leg in the outbox has been there; 0 when none is.",
    read: (stats, view, { waiting }) => (waiting === undefined ? [] : ages(stats, view, waiting)),
  },
  {
    name: "bridge_legs_total",
    type: "counter",
    help: "Legs that ended, by what became of them.",
    read: ({ legs }) =>
      legs.flatMap((leg) =>
        DISPOSITIONS.map((disposition) => ({
          labels: { ...legLabels(leg), disposition },
          value: leg.dispositions[disposition],
        })),
      ),
  },
  {
    name: "bridge_legs_in_flight",
    type: "gauge",
    help: "Legs that have not ended.",
    read: perLeg((leg) => leg.inFlight),
  },
  {
    name: "bridge_attempts_total",
    type: "counter",
    help: "Sends tried.",
    read: perLeg((leg) => leg.attempts),
  },
  {
    name: "bridge_unaccounted_messages",
    type: "gauge",
    help: "Legs received, injected and recovered, less those ended, in flight and in the outbox. Anything but 0 is a bug of the bridge.",
    read: (stats) => single(stats.unaccounted),
  },
  {
    name: "bridge_deliveries_in_flight",
    type: "gauge",
    help: "Deliveries that hold a slot of the route.",
    read: perRoute((route) => route.inFlight),
  },
  {
    name: "bridge_dlq_write_failures_total",
    type: "counter",
    help: "Writes to the DLQ that failed; each is tried again.",
    read: perRoute((route) => route.dlqWriteFailures),
  },
  {
    name: "bridge_outbox_write_failures_total",
    type: "counter",
    help: "Writes to the outbox that failed, of new records and of how records ended; each is tried again.",
    read: perRoute((route) => route.outboxWriteFailures),
  },
  {
    name: "bridge_settle_failures_total",
    type: "counter",
    help: "Settlements that the source did not take; it redelivers.",
    read: perRoute((route) => route.settleFailures),
  },
  {
    name: "bridge_dlq_redrives_total",
    type: "counter",
    help: "Dead letters delivered again and deleted.",
    read: (stats) => single(stats.redrives),
  },
  {
    name: "bridge_dlq_redrive_failures_total",
    type: "counter",
    help: "Dead letters whose redrive failed.",
    read: (stats) => single(stats.redriveFailures),
  },
  {
    name: "bridge_store_writable",
    type: "gauge",
    help: "1 while the store is open and takes what is written to it; 0 when its disk is full or read-only, say.",
    read: perStore(({ open, fault }) => Number(open && fault === undefined)),
  },
  {
    name: "bridge_store_set_aside_files",
    type: "gauge",
    help: "Damaged files that the store has set aside and that no operator has acknowledged.",
    read: perStore(({ setAside }) => setAside.length),
  },
  {
    name: "bridge_session_connected",
    type: "gauge",
    help: "1 while every connection of the session is up.",
    read: perSession((session) => Number(session.connected)),
  },
  {
    name: "bridge_session_connects_total",
    type: "counter",
    help: "Connections made, the first one included.",
    read: perSession((session) => session.connects),
  },
  {
    name: "bridge_session_failures_total",
    type: "counter",
    help: "Connections lost and attempts to connect that failed.",
    read: perSession((session) => session.failures),
  },
  {
    name: "bridge_session_has_lease",
    type: "gauge",
    help: "1 while this instance holds the lease of the session.",
    read: perSessionView((session) => Number(session.hasLease)),
  },
  {
    name: "bridge_lease_acquisitions_total",
    type: "counter",
    help: "How often this instance has got the lease of the session.",
    read: perLease((lease) => lease.acquisitions),
  },
  {
    name: "bridge_lease_losses_total",
    type: "counter",
    help: "How often this instance had to step down from the lease of the session; a stop of the bridge is none.",
    read: perLease((lease) => lease.losses),
  },
  {
    name: "bridge_lease_renewal_failures_total",
    type: "counter",
    help: "Renewals of the lease that failed and were tried again.",
    read: perLease((lease) => lease.failures),
  },
  {
    name: "bridge_session_subscriptions_wanted",
    type: "gauge",
    help: "Subscriptions that the configuration asks for.",
    read: perSessionView((session) => session.subscriptionsWanted),
  },
  {
    name: "bridge_session_subscriptions_active",
    type: "gauge",
    help: "Subscriptions that the broker has acknowledged.",
    read: perSessionView((session) => session.subscriptionsActive),
  },
  {
    name: "bridge_audit_failures_total",
    type: "counter",
    help: "Audit events that a sink did not keep, or not in time.",
    read: (_, __, { auditFailures = [] }) =>
      Array.from(auditFailures, ([sink, value]) => ({ labels: { sink }, value })),
  },
  {
    name: "bridge_key_refresh_failures_total",
    type: "counter",
    help: "How often the keys of the servers could not be read again; the last good ones stay in force.",
    read: (_, __, { keyRefreshFailures }) => (keyRefreshFailures === undefined ? [] : single(keyRefreshFailures)),
  },
  {
    name: "bridge_adapter",
    type: "untyped",
    help: "What an adapter counts of itself, by the name that it gives; starts anew with the runtime.",
    read: ({ parts }) =>
      parts.flatMap(({ part, id, counters }) =>
        Object.entries(counters).map(([counter, value]) => ({ labels: { part, id, counter }, value })),
      ),
  },
];

function single(value: number): readonly Sample[] {
  return [{ labels: {}, value }];
}

function flag(value: boolean): readonly Sample[] {
  return single(Number(value));
}

function legLabels({ routeId, bindingId }: Pick<LegStats, "routeId" | "bindingId">) {
  return { route: routeId, binding: bindingId };
}

function perLeg(value: (leg: LegStats) => number): Metric["read"] {
  return ({ legs }) => legs.map((leg) => ({ labels: legLabels(leg), value: value(leg) }));
}

function perRoute(value: (route: RouteStats) => number): Metric["read"] {
  return ({ routes }) => routes.map((route) => ({ labels: { route: route.routeId }, value: value(route) }));
}

function perStore(value: (store: StoreView) => number): Metric["read"] {
  return (_, { stores }) => stores.map((store) => ({ labels: { store: store.role }, value: value(store) }));
}

/** A sample for each binding that has, or may have, something in the outbox. */
function ages({ legs }: BridgeStats, { routes }: BridgeView, waiting: readonly Waiting[]): readonly Sample[] {
  const boxed = new Set(routes.filter((route) => route.deliveryMode === "shared_outbox").map(({ id }) => id));
  const none = legs
    .filter(({ routeId, bindingId }) => boxed.has(routeId) && bindingId !== "")
    .filter((leg) => !waiting.some((one) => one.routeId === leg.routeId && one.bindingId === leg.bindingId))
    .map((leg) => ({ labels: legLabels(leg), value: 0 }));
  return [...waiting.map((one) => ({ labels: legLabels(one), value: one.oldestAgeMs / 1_000 })), ...none];
}

function perSession(value: (session: SessionStats) => number): Metric["read"] {
  return ({ sessions }) =>
    sessions.map((session) => ({ labels: { session: session.sessionId }, value: value(session) }));
}

function perLease(value: (lease: LeaseStats) => number): Metric["read"] {
  return ({ leases }) => leases.map((lease) => ({ labels: { session: lease.sessionId }, value: value(lease) }));
}

function perSessionView(value: (session: SessionView) => number): Metric["read"] {
  return (_, view) =>
    view.sessions.map((session) => ({ labels: { session: session.sessionId }, value: value(session) }));
}
