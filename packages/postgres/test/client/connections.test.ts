import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
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

test("a farewell does not wait for connections that do not come", async () => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const url = `postgresql://bridge@127.0.0.1:${port}/bridge?sslmode=disable`;
  const connection = { url, schema: "bridge", pool_size: 2 };
  const anHour = 3_600_000;
  const server = serverOf(connection, { connectTimeoutMs: anHour, statementTimeoutMs: anHour });
  try {
    const connections = new Connections(server, 2, anHour, systemClock);
    const arrived = once(silent, "connection") as Promise<[Socket]>;
    const leaving = new AbortController();
    const lent = connections.lend(leaving.signal).catch((error: unknown) => error);
    const [socket] = await arrived;
    const closed = once(socket.resume(), "close");
    leaving.abort(new Error("nobody waits"));
    expect(await lent).toMatchObject({ message: "nobody waits" });
    await connections[Symbol.asyncDispose]();
    await closed;
  } finally {
    silent.close();
  }
});
