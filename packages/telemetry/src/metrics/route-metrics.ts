import { PROGRESS, type RouteStats } from "@bridge/core";
import type { Metric, Reading } from "./metric.ts";

/** What routes count besides their legs. */
export const ROUTE_METRICS: readonly Metric[] = [
  {
    name: "bridge_route_paused",
    type: "gauge",
    help: "1 while an operator has paused the route.",
    read: ({ view }) =>
      view.routes.values().map(({ id, paused }) => ({ labels: { route: id }, value: Number(paused) })),
  },
  {
    name: "bridge_route_progress",
    type: "gauge",
    help: "1 for how the route gets on: moving, idle, waiting, stalled or failing.",
    read: ({ view }) =>
      view.routes
        .values()
        .flatMap(({ id, progress }) =>
          progress === undefined
            ? []
            : PROGRESS.map((state) => ({ labels: { route: id, state }, value: Number(state === progress.progress) })),
        ),
  },
  {
    name: "bridge_route_oldest_unsettled_seconds",
    type: "gauge",
    help: "How long the oldest delivery of the route has been unsettled; 0 without any.",
    read: ({ view }) =>
      view.routes
        .values()
        .flatMap(({ id, progress }) =>
          progress === undefined ? [] : [{ labels: { route: id }, value: progress.oldestUnsettledMs / 1_000 }],
        ),
  },
  {
    name: "bridge_route_failure_ratio",
    type: "gauge",
    help: "Of the attempts that ended in the last minute, the share that failed; no sample without any.",
    read: ({ view }) =>
      view.routes
        .values()
        .flatMap(({ id, progress }) =>
          progress?.failureShare === undefined ? [] : [{ labels: { route: id }, value: progress.failureShare }],
        ),
  },
  {
    name: "bridge_deliveries_in_flight",
    type: "gauge",
    help: "Deliveries that hold a slot of the route.",
    read: perRoute((route) => route.inFlight),
  },
  {
    name: "bridge_route_max_in_flight",
    type: "gauge",
    help: "Slots that the route has.",
    read: ({ view }) =>
      view.routes.values().map(({ id, policy }) => ({ labels: { route: id }, value: policy.maxInFlight })),
  },
  {
    name: "bridge_route_max_outbox_depth",
    type: "gauge",
    help: "Legs that the route may have in the outbox; only of routes that have one.",
    read: ({ view }) =>
      view.routes
        .values()
        .filter(({ deliveryMode }) => deliveryMode === "shared_outbox")
        .map(({ id, policy }) => ({ labels: { route: id }, value: policy.maxOutboxDepth })),
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
];

function perRoute(value: (route: RouteStats) => number) {
  return ({ stats }: Reading) =>
    stats.routes.values().map((route) => ({ labels: { route: route.routeId }, value: value(route) }));
}
