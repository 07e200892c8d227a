import { OUTBOX_MIGRATIONS } from "@bridge/postgres";
import { systemClock, systemRandom } from "@bridge/ports";
import { migrate, PostgresClient } from "@bridge/postgres/internal";
import { PostgresCluster } from "@bridge/tooling/postgres-cluster";
import type { OutboxBlock } from "../bridge/start-bridge.ts";

/** A server that keeps what it confirms, and has the memory that its packages give it. */
const SETTINGS = ["fsync=on", "shared_buffers=128MB", "max_wal_size=1GB"] as const;
const START_TIMEOUT_MS = 30_000;

/** An outbox in a PostgreSQL of its own, as the configuration names it. */
export async function postgresOutbox(): Promise<AsyncDisposable & { readonly block: OutboxBlock }> {
  await using opened = new AsyncDisposableStack();
  const cluster = opened.use(await PostgresCluster.start(SETTINGS));
  const connection = { url: cluster.url, schema: "bridge", pool_size: 5 };
  await using client = new PostgresClient(connection, { clock: systemClock, random: systemRandom() });
  await migrate(OUTBOX_MIGRATIONS, client, AbortSignal.timeout(START_TIMEOUT_MS));
  const all = opened.move();
  return {
    block: { type: "postgres", options: { url: cluster.url } },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
