import { LONG } from "@bridge/tooling/long";
import { setTimeout as delay } from "node:timers/promises";
import { noPostgresCluster, PostgresCluster } from "@bridge/tooling/postgres-cluster";
import { TLS_SECRET, tlsNames } from "@bridge/tooling/tls-names";
import { afterAll, beforeAll, describe } from "vitest";
import { openClient } from "./support/clients.ts";

describe.skipIf(noPostgresCluster)("needs the programs of PostgreSQL", () => {
  let cluster: PostgresCluster;
  beforeAll(async () => void (cluster = await PostgresCluster.start()), 60_000);
  afterAll(() => cluster[Symbol.asyncDispose]());

  tlsNames("a client of PostgreSQL", {
    // The server takes its certificates anew for each row.
    all: LONG,
    present: async (pair) => {
      await cluster.present(pair);
      return cluster.port;
    },
    connect: async ({ host, port, caFile }) => {
      const url = new URL(cluster.url);
      Object.assign(url, { hostname: host, port: String(port), password: TLS_SECRET });
      const tls = { ca_file: caFile, reject_unauthorized: true };
      await using client = openClient({ url: url.href, schema: "bridge", pool_size: 1, tls });
      const call = new AbortController();
      const answer = { came: false };
      const asked = client.query({ what: "looking", text: "SELECT 1" }, call.signal).then(
        () => (answer.came = true),
        () => {},
      );
      // It is tried again and again, and told before it is given up.
      while (!answer.came && client.failure === undefined) await Promise.race([asked, delay(5)]);
      call.abort(new Error("enough"));
      await asked;
      if (client.failure !== undefined) throw client.failure;
    },
  });
});
