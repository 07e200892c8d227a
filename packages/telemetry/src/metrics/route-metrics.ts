import type { RouteStats } from "@bridge/core";
import type { Metric, Reading } from "./metric.ts";

/** What routes count besides their legs. */
export const ROUTE_METRICS: readonly Metric[] = [
  {
    name: "bridge_route_paused",
    type: "gauge",
    help: "1 while an operator has paused the route.",
    read: ({ view }) => view.routes.map(({ id, paused }) => ({ labels: { route: id }, value: Number(paused) })),
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
    read: ({ view }) => view.routes.map(({ id, policy }) => ({ labels: { route: id }, value: policy.maxInFlight })),
  },
  {
    name: "bridge_route_max_outbox_depth",
    type: "gauge",
    help: "Legs that the route may have in the outbox; only of routes that have one.",
    read: ({ view }) =>
      view.routes
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
    stats.routes.map((route) => ({ labels: { route: route.routeId }, value: value(route) }));
}
