import { type Metric, single } from "./metric.ts";

/** What is counted around the engine, and by adapters. */
export const AROUND_METRICS: readonly Metric[] = [
  {
    name: "bridge_audit_failures_total",
    type: "counter",
    help: "Audit events that a sink did not keep, or not in time.",
    read: ({ auditFailures = [] }) => Array.from(auditFailures, ([sink, value]) => ({ labels: { sink }, value })),
  },
  {
    name: "bridge_key_refresh_failures_total",
    type: "counter",
    help: "How often the keys of the servers could not be read again; the last good ones stay in force.",
    read: ({ keyRefreshFailures }) => (keyRefreshFailures === undefined ? [] : single(keyRefreshFailures)),
  },
  {
    name: "bridge_adapter",
    type: "untyped",
    help: "What an adapter counts of itself, by the name that it gives; starts anew with the runtime.",
    read: ({ stats }) =>
      stats.parts
        .values()
        .flatMap(({ part, id, counters }) =>
          Object.entries(counters).map(([counter, value]) => ({ labels: { part, id, counter }, value })),
        ),
  },
];
