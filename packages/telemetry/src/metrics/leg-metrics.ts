import { DISPOSITIONS, type LegStats } from "@bridge/core";
import { legLabels, type Metric, type Reading, single } from "./metric.ts";

/** The accounts: what came in, and what became of it. */
export const LEG_METRICS: readonly Metric[] = [
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
    help: "Legs that are persisted and not finished; no sample while the outbox is not open.",
    read: (reading) => (isOutboxAway(reading) ? [] : inOutbox(reading)),
  },
  {
    name: "bridge_legs_total",
    type: "counter",
    help: "Legs that ended, by what became of them.",
    read: ({ stats }) =>
      stats.legs.values().flatMap((leg) =>
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
    read: ({ stats }) => single(stats.unaccounted),
  },
];

const inOutbox = perLeg((leg) => leg.inOutbox);

/** What is in it is counted when it is opened. */
function isOutboxAway({ view }: Reading): boolean {
  return view.stores.some(({ role, open }) => role === "outbox" && !open);
}

function perLeg(value: (leg: LegStats) => number) {
  return ({ stats }: Reading) => stats.legs.values().map((leg) => ({ labels: legLabels(leg), value: value(leg) }));
}
