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

  test("no servers, no text", () => {
    expect(renderServerMetrics([])).toBe("");
  });
});
