import { PATIENCE } from "@bridge/tooling/patience";
import { globSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "@bridge/tooling/listening";
import { noPostgres, testSchema } from "@bridge/tooling/test-postgres";
import { afterAll, expect, test, vi } from "vitest";
import type { Binary } from "./support/binary.ts";
import { Folder, HTTP } from "./support/folder.ts";
import { Mosquitto, noMosquitto } from "./support/mosquitto.ts";

const CHANGES = 15;

const folder = new Folder();
afterAll(() => folder[Symbol.dispose]());

/** How many objects of each class are alive. */
async function alive(bridge: Binary, classes: readonly string[]): Promise<Readonly<Record<string, number>>> {
  bridge.kill("SIGUSR2");
  const snapshots = (): readonly string[] => globSync("*.heapsnapshot", { cwd: folder.path });
  const text = await vi.waitFor(() => {
    const written = snapshots().map((name) => readFileSync(join(folder.path, name), "utf8"))[0] ?? "";
    expect(written.trimEnd().endsWith("]}")).toBe(true);
    return written;
  }, PATIENCE);
  for (const name of snapshots()) rmSync(join(folder.path, name));
  const { snapshot, nodes, strings } = JSON.parse(text) as Heap;
  const [fields, [types]] = [snapshot.meta.node_fields, snapshot.meta.node_types];
  const [type, name] = [fields.indexOf("type"), fields.indexOf("name")];
  const counts = Object.fromEntries(classes.map((each) => [each, 0]));
  for (let at = 0; at < nodes.length; at += fields.length) {
    const named = strings[nodes[at + name] ?? 0] ?? "";
    if (types[nodes[at + type] ?? 0] === "object" && named in counts) counts[named] = (counts[named] ?? 0) + 1;
  }
  return counts;
}

interface Heap {
  readonly snapshot: { readonly meta: { readonly node_fields: string[]; readonly node_types: readonly [string[]] } };
  readonly nodes: readonly number[];
  readonly strings: readonly string[];
}

test.skipIf(noPostgres || noMosquitto)("what reloads replace is given back: sessions, routes and drains", async () => {
  await using schema = await testSchema();
  await using broker = await Mosquitto.start(folder);
  const { url } = schema.connection;
  const receiver = `127.0.0.1:${await freePort()}`;
  const document = (change: number): string => `${HTTP}
bridge: {id: test}
stores:
  dlq: {type: memory, options: {acknowledge_volatile: true}}
  outbox: {type: postgres, options: {url: "${url}", schema: ${schema.connection.schema}}}
sessions: [{id: broker, transport: mqtt, options: {broker_urls: ["mqtt://127.0.0.1:${broker.port}"], keep_alive: ${20 + change}s}}]
receivers:
  - {id: in, session_id: broker, topics: [{topic: "given-back/#", qos: 1}]}
  - {id: web-in, transport: http, options: {addr: "${receiver}"}}
senders: [{id: out, session_id: broker}]
bindings: [{id: to-out, sender_id: out, address: given-back-out}]
routes:
  - {id: first, receiver_id: in, bindings: [to-out], delivery_mode: shared_outbox}
  - {id: second, receiver_id: web-in, bindings: [to-out], delivery_mode: shared_outbox, policy: {max_replay_attempts: ${1 + change}}}
`;
  folder.write("bridge.yaml", document(0));
  await using tables = folder.run(["-create-tables"]);
  expect(await tables.ended).toBe(0);
  await using bridge = folder.run([], {
    NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${folder.path}`,
  });
  await bridge.logged("bridge started");
  const reloads = (): number => bridge.log.filter(({ msg }) => msg === "configuration reloaded").length;
  for (let change = 1; change <= CHANGES; change++) {
    folder.write("bridge.yaml", document(change));
    bridge.kill("SIGHUP");
    await vi.waitFor(() => expect(reloads()).toBeGreaterThanOrEqual(change), PATIENCE);
  }
  const counts = await alive(bridge, ["Route", "Drain", "MqttSession", "Intake"]);
  // What the last change has replaced may still be there.
  for (const [name, count] of Object.entries(counts))
    expect({ [name]: count < 6 && count > 0 }).toEqual({ [name]: true });
  bridge.kill("SIGTERM");
  expect(await bridge.ended).toBe(0);
});
