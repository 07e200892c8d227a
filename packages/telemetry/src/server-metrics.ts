import type { ListenerStats } from "@bridge/net-kit";
import { exposition } from "./exposition.ts";
import type { Family, NumberType } from "./family.ts";
import { servedFamilies, type ServedCounts } from "./served-metrics.ts";

/** One of the servers of a process, by its name. */
export interface ServerStats {
  readonly server: "admin" | "monitor";
  readonly stats: ListenerStats;
  /** What its app has counted. Default: nothing is known of that. */
  readonly counts?: ServedCounts | undefined;
}

interface ServerMetric {
  readonly name: `bridge_server_${string}`;
  readonly type: NumberType;
  readonly help: string;
  /** `undefined`: the server has none. */
  readonly read: (stats: ListenerStats) => number | undefined;
}

const SERVER_METRICS: readonly ServerMetric[] = [
  {
    name: "bridge_server_connections",
    type: "gauge",
    help: "Connections that are open.",
    read: (stats) => stats.connections,
  },
  {
    name: "bridge_server_connections_ended_total",
    type: "counter",
    help: "Idle or slow connections that were ended for newer ones, at the limit.",
    read: (stats) => stats.connectionsEnded,
  },
  {
    name: "bridge_server_connections_refused_total",
    type: "counter",
    help: "New connections for which there was no room, as every other one was being answered.",
    read: (stats) => stats.connectionsRefused,
  },
  {
    name: "bridge_server_connections_cut_total",
    type: "counter",
    help: "Connections that were cut because their clients did not take their answers.",
    read: (stats) => stats.connectionsCut,
  },
  {
    name: "bridge_server_connections_timed_out_total",
    type: "counter",
    help: "Connections that were ended because a request on them was not complete in time.",
    read: (stats) => stats.connectionsTimedOut,
  },
  {
    name: "bridge_server_tls_expires_timestamp_seconds",
    type: "gauge",
    help: "When the certificate in force expires, in seconds since 1970.",
    read: ({ tls }) => tls && Math.floor(tls.expiresAt / 1_000),
  },
  {
    name: "bridge_server_tls_stale",
    type: "gauge",
    help: "1 while the TLS files cannot be used and the last good certificate stays in force.",
    read: ({ tls }) => tls && Number(tls.stale),
  },
  {
    name: "bridge_server_tls_handshakes_failed_total",
    type: "counter",
    help: "TLS connections that failed before their first request.",
    read: ({ tls }) => tls?.handshakesFailed,
  },
];

/** What is counted of the listeners of a process; empty when there are none. */
export function serverFamilies(servers: readonly ServerStats[]): readonly Family[] {
  if (servers.length === 0) return [];
  const ofListeners = SERVER_METRICS.map(({ name, type, help, read }) => ({
    name,
    type,
    help,
    samples: servers.flatMap(({ server, stats }) => {
      const value = read(stats);
      return value === undefined ? [] : [{ labels: { server }, value }];
    }),
  }));
  return [...ofListeners, ...servedFamilies(servers.flatMap(({ counts }) => counts ?? []))];
}

/** The same as Prometheus text. */
export function renderServerMetrics(servers: readonly ServerStats[]): string {
  return exposition(serverFamilies(servers));
}
