import type { HistogramStats, LegStats } from "@bridge/core";
import type { HistogramSample, Labels } from "../family.ts";
import { legLabels, type Metric, type Reading } from "./metric.ts";

/** How long things take: histograms in seconds, with the same buckets for every route and binding. */
export const DURATION_METRICS: readonly Metric[] = [
  {
    name: "bridge_send_duration_seconds",
    type: "histogram",
    help: "How long each send took until the target accepted it, or until it failed.",
    read: ({ stats }) =>
      stats.legs
        .values()
        .filter(sends)
        .flatMap((leg) => [
          sample({ ...legLabels(leg), outcome: "accepted" }, leg.sends.accepted),
          sample({ ...legLabels(leg), outcome: "failed" }, leg.sends.failed),
        ]),
  },
  {
    name: "bridge_end_to_end_duration_seconds",
    type: "histogram",
    help: "From the receipt of a message by the bridge until the target had accepted it.",
    read: ({ stats }) =>
      stats.legs
        .values()
        .filter(sends)
        .map((leg) => sample(legLabels(leg), leg.endToEnd)),
  },
  {
    name: "bridge_hold_duration_seconds",
    type: "histogram",
    help: "From the receipt of a delivery until its source was told what to do with it.",
    read: ({ stats }) => stats.routes.values().map(({ routeId, hold }) => sample({ route: routeId }, hold)),
  },
  {
    name: "bridge_outbox_delivery_age_seconds",
    type: "histogram",
    help: "How long legs had been in the outbox when the target accepted them.",
    read: (reading) => {
      const boxed = new Set(boxedRoutes(reading));
      const own = reading.stats.legs
        .values()
        .filter((leg) => sends(leg) && (boxed.has(leg.routeId) || leg.outboxAge.sum > 0));
      return own.map((leg) => sample(legLabels(leg), leg.outboxAge));
    },
  },
];

/** The routes of the configuration that send out of the outbox. */
export function boxedRoutes({ view }: Reading): readonly string[] {
  return view.routes.filter((route) => route.deliveryMode === "shared_outbox").map(({ id }) => id);
}

/** Not the legs that ended before a binding was chosen; but the sum of routes that are configured no more. */
function sends({ routeId, bindingId }: LegStats): boolean {
  return bindingId !== "" || routeId === "";
}

/** The engine measures in milliseconds. */
function sample(labels: Labels, { bounds, counts, sum }: HistogramStats): HistogramSample {
  return { labels, bounds: bounds.map((ms) => ms / 1_000), counts, sum: sum / 1_000 };
}
