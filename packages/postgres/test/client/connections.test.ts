import { systemClock } from "@bridge/ports";
import { noPostgres, testSchema } from "@bridge/tooling/test-postgres";
import type { PoolClient } from "pg";
import { describe, expect, test } from "vitest";
import { serverOf } from "../../src/client/client-config.ts";
import { Connections } from "../../src/client/connections.ts";

const { signal } = new AbortController();
const LIMITS = { connectTimeoutMs: 10_000, statementTimeoutMs: 10_000 };

describe.skipIf(noPostgres)("connections", () => {
  test("of those that are idle the ones that have not answered since are not lent again", async () => {
    await using schema = await testSchema();
    let now = 0;
    const clock = { ...systemClock, monotonic: () => now };
    const server = serverOf(schema.connection, LIMITS);
    await using connections = new Connections(server, 2, LIMITS.connectTimeoutMs, clock);
    const ask = async (client: PoolClient): Promise<void> => {
      await connections.use(client, () => client.query("SELECT 1"), signal);
    };
    const [silent, slow] = [await connections.lend(signal), await connections.lend(signal)];
    await ask(silent);
    now = 2;
    await ask(slow);
    connections.doubt(1);
    const lent = [await connections.lend(signal), await connections.lend(signal)];
    for (const client of lent) await ask(client);
    expect(lent).toContain(slow);
    expect(lent).not.toContain(silent);
  });
});
