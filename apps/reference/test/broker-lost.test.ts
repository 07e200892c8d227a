import { tcpProxy } from "@bridge/conformance";
import { noPostgres, testSchema } from "@bridge/tooling/test-postgres";
import { expect, test } from "vitest";
import { eventually, probe } from "./support/ask.ts";
import type { Binary } from "./support/binary.ts";
import { ADMIN_KEY, Folder, HTTP } from "./support/folder.ts";
import { Mosquitto, noMosquitto } from "./support/mosquitto.ts";
import { publish } from "./support/publish.ts";
import { Target } from "./support/target.ts";
import { until } from "./support/until.ts";

async function becomes(bridge: Binary, level: string, role: string): Promise<void> {
  const monitor = await bridge.url("monitor");
  const look = () => probe(monitor, `ready?level=${level}`);
  await eventually(look, ({ status, body }) => status === 200 && (body as { role?: unknown }).role === role);
}

async function yields(bridge: Binary): Promise<string | undefined> {
  const headers = { "X-API-Key": ADMIN_KEY };
  const text = await (await fetch(`${await bridge.url("monitor")}/api/v1/monitor/metrics`, { headers })).text();
  return /^bridge_lease_yields_total\{[^}]*\} (\S+)$/m.exec(text)?.[1];
}

test.skipIf(noMosquitto || noPostgres)(
  "finding 6.8: of two processes with leases in PostgreSQL the one that is cut off from its broker lets the other take over, and lives on",
  async () => {
    await using target = await Target.open("accepts");
    using folder = new Folder();
    await using broker = await Mosquitto.start(folder);
    await using schema = await testSchema();
    await using ways = new AsyncDisposableStack();
    const { url } = schema.connection;
    const store = `{type: postgres, options: {url: "${url}", schema: ${schema.connection.schema}, pool_size: 2}}`;
    const document = (name: string, port: number): string =>
      folder.write(
        `${name}.yaml`,
        `${HTTP}
bridge: {id: cut, instance_id: ${name}, deployment_mode: clustered, lease_ttl: 3s, lease_poll_interval: 200ms}
stores: {lease: ${store}}
sessions: [{id: broker, transport: mqtt, session_mode: exclusive, options: {broker_urls: ["mqtt://127.0.0.1:${port}"]}}]
receivers: [{id: in, session_id: broker, topics: [{topic: in, qos: 1}]}]
senders: [{id: out, transport: http, options: {url: "${target.url}"}}]
bindings: [{id: to-out, sender_id: out}]
routes: [{id: r, receiver_id: in, bindings: [to-out], policy: {on_permanent_failure: drop, on_expired: drop}}]
`,
      );
    const run = async (name: string) => {
      const way = ways.use(await tcpProxy({ target: { port: broker.port } }));
      const file = document(name, way.port);
      if (name === "owner") {
        await using tables = folder.run(["-create-tables", "-config", file]);
        expect(await tables.ended).toBe(0);
      }
      return { way, bridge: ways.use(folder.run(["-config", file])) };
    };
    const owner = await run("owner");
    await becomes(owner.bridge, "full", "active");
    const standby = await run("standby");
    await becomes(standby.bridge, "subscribed", "standby");

    owner.way.refuse();
    owner.way.cut();
    await publish(broker.port, ["-t", "in"], ["while nobody is connected"]);
    await becomes(standby.bridge, "full", "active");
    await until(
      "delivered by the other",
      () => target.accepted.includes("while nobody is connected"),
      () => target.accepted.length,
    );
    await becomes(owner.bridge, "subscribed", "standby");
    expect(await yields(owner.bridge)).toBe("1");
    expect(owner.bridge.log.filter(({ msg }) => msg.startsWith("lease yielded"))).toMatchObject([
      { session_id: "broker", token: 1 },
    ]);
  },
);
