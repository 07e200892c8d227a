import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "./support/ask.ts";
import { ADMIN_KEY, Folder, HTTP } from "./support/folder.ts";

/**
 * Everything that came in through a reference, by the variable that it stands in. Hosts are addresses of this machine, where
 * nothing listens; brokers that are there are asked for what they do not have.
 */
const CAME_IN: Readonly<Record<string, string>> = {
  MQTT_HOST: "127.91.0.1",
  MQTT_CLIENT: "canary-client",
  MQTT_TOPIC: "canary/topic",
  AMQP_URL: "amqp://127.91.0.2:1/canary-vhost",
  QUEUE: "canary-queue",
  NATS_HOST: "127.91.0.3",
  STREAM: "CANARY-STREAM",
  CONSUMER: "canary-consumer",
  PG_HOST: "127.91.0.4",
  PG_DATABASE: "canary_database",
  PG_USER: "canary_user",
  TARGET: "http://127.91.0.5:1/canary-path",
  CA: "canary-authority.pem",
  RECEIVER_PATH: "/canary-receiver",
  DLQ: "canary-dead.db",
  AUDIT: "canary-audit.jsonl",
  COLLECTOR: "http://127.91.0.6:1",
  WANTED: "canary-wanted",
};
/** What of these would be enough to tell. */
const TELLTALES = [
  ...Object.values(CAME_IN).filter((value) => !value.includes("://")),
  "127.91.0.2",
  "canary-vhost",
  "127.91.0.5",
  "canary-path",
  "127.91.0.6",
];
/** What names a part is shown, wherever it came from; so are numbers, times and words of the bridge's own. */
const NAMES = { SITE: "canary-site", LEVEL: "debug", WINDOW: "1234", TIMEOUT: "1500ms" };

const DOCUMENT = `
bridge: {id: "\${env:SITE}", log_level: "\${env:LEVEL}", drain_timeout: 2s}
${HTTP}
audit: {log: true, file: {path: "\${env:AUDIT}"}}
telemetry: {otlp: {endpoint: "\${env:COLLECTOR}", metrics: {interval: 1s}, timeout: 500ms}}
stores:
  dlq: {type: file, options: {path: "\${env:DLQ}"}}
  outbox: {type: postgres, options: {host: "\${env:PG_HOST}", port: 1, database: "\${env:PG_DATABASE}", user: "\${env:PG_USER}"}}
sessions:
  - {id: mqtt, transport: mqtt, options: {broker_urls: ["mqtt://\${env:MQTT_HOST}:1"], client_id: "\${env:MQTT_CLIENT}"}}
  - {id: mosquitto, transport: mqtt, options: {broker_urls: ["mqtt://127.0.0.1:1883"], client_id: "\${env:MQTT_CLIENT}"}}
  - {id: amqp, transport: amqp, options: {url: "\${env:AMQP_URL}"}}
  - {id: rabbit, transport: amqp, options: {url: "amqp://127.0.0.1:5672"}}
  - {id: nats, transport: nats, options: {servers: ["nats://\${env:NATS_HOST}:1"]}}
  - {id: jetstream, transport: nats, options: {servers: ["nats://127.0.0.1:4222"]}}
receivers:
  - {id: in, transport: http, options: {addr: "127.0.0.1:0", path: "\${env:RECEIVER_PATH}"}}
  - {id: topic, session_id: mqtt, topics: [{topic: "\${env:MQTT_TOPIC}"}]}
  - {id: subscribed, session_id: mosquitto, topics: [{topic: "\${env:MQTT_TOPIC}"}]}
  - {id: away-queue, session_id: amqp, options: {queue: "\${env:QUEUE}"}}
  - {id: queue, session_id: rabbit, options: {queue: "\${env:QUEUE}"}}
  - {id: away-stream, session_id: nats, options: {stream: "\${env:STREAM}", consumer: "\${env:CONSUMER}"}}
  - {id: stream, session_id: jetstream, options: {stream: "\${env:STREAM}", consumer: "\${env:CONSUMER}"}}
senders:
  - {id: target, transport: http, options: {url: "\${env:TARGET}"}}
  - {id: guarded, transport: http, options: {url: "https://127.0.0.1:1", tls: {ca_file: "\${env:CA}"}}}
bindings: [{id: to-target, sender_id: target}, {id: to-guarded, sender_id: guarded}]
processors: [{id: only, type: filter, options: {drop: {field: subject, op: eq, value: "\${env:WANTED}"}}}]
routes:
  - {id: plain, receiver_id: in, bindings: [to-target], processors: [only], policy: {max_replay_attempts: 1, max_in_flight: "\${env:WINDOW}"}}
  - {id: guarded, receiver_id: topic, bindings: [to-guarded], policy: {max_replay_attempts: 1, send_timeout: "\${env:TIMEOUT}"}}
  - {id: boxed, receiver_id: queue, bindings: [to-target], delivery_mode: shared_outbox}
  - {id: r1, receiver_id: away-queue, bindings: [to-target]}
  - {id: r2, receiver_id: away-stream, bindings: [to-target]}
  - {id: r3, receiver_id: stream, bindings: [to-target]}
  - {id: r4, receiver_id: subscribed, bindings: [to-target]}
`;

test("design 02 §7: what came in through a reference is in no log, audit record, answer, view or metric", async () => {
  using folder = new Folder();
  folder.write("bridge.yaml", DOCUMENT);
  await using bridge = folder.run([], { ...CAME_IN, ...NAMES });
  const [admin, monitor] = [`${await bridge.url("admin")}/api/v1/admin`, await bridge.url("monitor")];
  await bridge.logged("bridge started");

  const told: string[] = [];
  const call = async (method: string, to: string, body?: object) => {
    const headers = { "X-API-Key": ADMIN_KEY };
    const response = await fetch(to, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
    const text = await response.text();
    told.push(`${method} ${to} ${response.status} ${text}`);
    return { status: response.status, body: text };
  };
  const health = () => call("GET", `${monitor}/api/v1/monitor/deephealth`);

  // Sends that fail, the dead letters of them, and a redrive in vain.
  for (const route of ["plain", "guarded"])
    expect((await call("POST", `${admin}/routes/${route}/inject`, { subject: "s", payload: "" })).status).toBe(422);
  expect((await call("POST", `${admin}/routes/plain/inject`, { subject: "canary-wanted", payload: "" })).status).toBe(
    422,
  );
  const { messages } = JSON.parse((await call("GET", `${admin}/dlq/messages`)).body) as { messages: { id: string }[] };
  expect(messages).toHaveLength(2);
  for (const { id } of messages) await call("GET", `${admin}/dlq/messages/${id}`);
  expect((await call("POST", `${admin}/dlq/redrive`, { ids: messages.map(({ id }) => id) })).status).toBe(207);
  await call("GET", `${admin}/outbox`);

  // The outbox is away, sessions are, and there is no such queue.
  await eventually(health, ({ body }) => /"role":"outbox"[^}]*"fault"/.test(String(body)));
  await bridge.logged("session not connected");
  for (const path of ["bridge", "routes", "dlq", "config", "config/history"]) await call("GET", `${admin}/${path}`);
  for (const path of ["topology", "routes", "metrics", "health", "ready"])
    await call("GET", `${monitor}/api/v1/monitor/${path}`);

  // A change that is refused, one that is not, and a stop.
  folder.write("bridge.yaml", DOCUMENT.replace('path: "${env:DLQ}"', 'path: "/proc/${env:DLQ}"'));
  bridge.kill("SIGHUP");
  await eventually(health, ({ body }) => String(body).includes("last_error"));
  folder.write("bridge.yaml", DOCUMENT.replace("id: r4,", "id: r5,"));
  bridge.kill("SIGHUP");
  await eventually(health, ({ body }) => String(body).includes('"r5"'));
  await call("POST", `${admin}/bridge/stop`);
  bridge.kill("SIGTERM");
  await bridge.ended;

  const files = readdirSync(folder.path).filter((name) => name.startsWith(CAME_IN["AUDIT"] ?? ""));
  const audit = files.map((name) => readFileSync(join(folder.path, name), "utf8"));
  expect(audit.join("")).toContain("dlq.redrive");
  const texts = [bridge.stdout, bridge.stderr, ...audit, ...told].flatMap((text) => text.split("\n"));
  const quoting = new Set(
    texts.flatMap((line) => {
      // A message may be about anything.
      const said = line.replaceAll(/"subject":"[^"]*"/g, "");
      const value = TELLTALES.find((telltale) => said.includes(telltale));
      return value === undefined ? [] : [`${value} in ${said.replaceAll(/"(?:time|since)":"[^"]*"/g, "")}`];
    }),
  );
  expect([...quoting]).toEqual([]);
  expect(texts.join("\n")).toContain(NAMES.SITE);
});
