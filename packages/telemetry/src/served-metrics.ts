import type { Family, NumberType, Sample } from "./family.ts";

/** What the app of a server has counted. */
export interface ServedCounts {
  /** Callers that were turned away. */
  readonly refusals: readonly { readonly why: string; readonly count: number }[];
  readonly streams: readonly { readonly kind: string; readonly open: number; readonly lost: number }[];
  /** Sessions of browsers; `undefined`: it has none. */
  readonly sessionsBegun: number | undefined;
}

interface ServedMetric {
  readonly name: `bridge_${string}`;
  readonly type: NumberType;
  readonly help: string;
  /** What one server has counted; servers are added up. */
  readonly read: (counts: ServedCounts) => readonly Sample[];
}

const SERVED_METRICS: readonly ServedMetric[] = [
  {
    name: "bridge_auth_refusals_total",
    type: "counter",
    help: "Callers of the servers that were turned away: key, permission, csrf or throttled.",
    read: ({ refusals }) => refusals.map(({ why, count }) => ({ labels: { why }, value: count })),
  },
  {
    name: "bridge_sessions_begun_total",
    type: "counter",
    help: "Sessions of browsers that have begun here.",
    read: ({ sessionsBegun }) => (sessionsBegun === undefined ? [] : [{ labels: {}, value: sessionsBegun }]),
  },
  {
    name: "bridge_streams",
    type: "gauge",
    help: "Streams of the servers that are open.",
    read: ({ streams }) => streams.map(({ kind, open }) => ({ labels: { kind }, value: open })),
  },
  {
    name: "bridge_stream_events_lost_total",
    type: "counter",
    help: "Events that the clients of streams were not shown: there were too many for them.",
    read: ({ streams }) => streams.map(({ kind, lost }) => ({ labels: { kind }, value: lost })),
  },
];

/** Of all servers of a process together; empty when none says what it has counted. */
export function servedFamilies(counts: readonly ServedCounts[]): readonly Family[] {
  if (counts.length === 0) return [];
  return SERVED_METRICS.map(({ name, type, help, read }) => ({
    name,
    type,
    help,
    samples: added(counts.flatMap(read)),
  }));
}

function added(samples: readonly Sample[]): readonly Sample[] {
  const sums = new Map<string, Sample>();
  for (const { labels, value } of samples) {
    const key = JSON.stringify(labels);
    sums.set(key, { labels, value: value + (sums.get(key)?.value ?? 0) });
  }
  return [...sums.values()];
}
