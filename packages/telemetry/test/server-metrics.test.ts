import { describe, expect, test } from "vitest";
import { renderServerMetrics } from "../src/index.ts";
import { parseExposition } from "@bridge/tooling/parse-exposition";

const stats = { connections: 3, connectionsEnded: 4, connectionsRefused: 5, connectionsCut: 7, connectionsTimedOut: 8 };

describe("metrics of the servers", () => {
  test("each server has its samples, those of TLS only with TLS", () => {
    const tls = { expiresAt: 1_900_000_000_999, stale: true, handshakesFailed: 6 };
    const metrics = parseExposition(
      renderServerMetrics([
        { server: "monitor", stats },
        { server: "admin", stats: { ...stats, connections: 1, tls } },
      ]),
    );
    const seen = [...metrics].map(([name, { type, samples }]) => [
      `${name} ${type}`,
      samples.map(({ labels, value }) => `${labels["server"]} ${value}`).join(),
    ]);
    expect(Object.fromEntries(seen)).toEqual({
      "bridge_server_connections gauge": "monitor 3,admin 1",
      "bridge_server_connections_ended_total counter": "monitor 4,admin 4",
      "bridge_server_connections_refused_total counter": "monitor 5,admin 5",
      "bridge_server_connections_cut_total counter": "monitor 7,admin 7",
      "bridge_server_connections_timed_out_total counter": "monitor 8,admin 8",
      "bridge_server_tls_expires_timestamp_seconds gauge": "admin 1900000000",
      "bridge_server_tls_stale gauge": "admin 1",
      "bridge_server_tls_handshakes_failed_total counter": "admin 6",
    });
  });

  test("operators 10: callers turned away, sessions and streams are added up over the servers", () => {
    const refusals = (key: number, csrf: number) => [
      { why: "key", count: key },
      { why: "csrf", count: csrf },
    ];
    const admin = {
      refusals: refusals(2, 1),
      streams: [
        { kind: "events", open: 3, lost: 0 },
        { kind: "tail", open: 1, lost: 40 },
      ],
      sessionsBegun: 7,
    };
    const monitor = { refusals: refusals(5, 0), streams: [], sessionsBegun: undefined };
    const metrics = parseExposition(
      renderServerMetrics([
        { server: "monitor", stats, counts: monitor },
        { server: "admin", stats, counts: admin },
      ]),
    );
    const seen = [...metrics]
      .filter(([name]) => !name.startsWith("bridge_server_"))
      .map(([name, { type, samples }]) => [
        `${name} ${type}`,
        samples.map(({ labels, value }) => `${Object.values(labels).join()} ${value}`).join(),
      ]);
    expect(Object.fromEntries(seen)).toEqual({
      "bridge_auth_refusals_total counter": "key 7,csrf 1",
      "bridge_sessions_begun_total counter": " 7",
      "bridge_streams gauge": "events 3,tail 1",
      "bridge_stream_events_lost_total counter": "events 0,tail 40",
    });
  });

  test("no servers, no text", () => {
    expect(renderServerMetrics([])).toBe("");
  });
});
