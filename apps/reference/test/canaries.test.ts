import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually, probe } from "./support/ask.ts";
import { Folder } from "./support/folder.ts";

const canary = (place: string): string => `canary-${place}-0123456789`;

const KEYS = { admin: canary("admin-key"), monitor: canary("monitor-key"), receiver: canary("receiver-key") };
const ADMIN = { "X-API-Key": KEYS.admin };

/** Everything that must not be seen anywhere but where it belongs. */
const SECRETS = [
  ...Object.values(KEYS),
  canary("bearer"),
  canary("sent-header"),
  canary("user"),
  canary("password"),
  canary("amqp-user"),
  canary("amqp-password"),
  canary("payload"),
  canary("header"),
  canary("wrong-key"),
  canary("bad-body"),
  canary("patched-key"),
  canary("broken-file"),
  canary("address"),
];
/** As they would be seen in base64 too. */
const SEEN = SECRETS.flatMap((secret) => [secret, Buffer.from(secret).toString("base64").slice(0, -4)]);

const document = (target: string, more = ""): string => `
bridge: {id: canaries, log_level: debug}
http: {admin_addr: "127.0.0.1:0", monitor_addr: "127.0.0.1:0", admin_api_key: "\${env:ADMIN}", monitor_api_key: "\${file:monitor.key}"}
audit: {log: true, file: {path: audit.jsonl}}
stores: {dlq: {type: file, options: {path: dlq.db}}, outbox: {type: file, options: {path: outbox.db}}}
sessions:
  - {id: broker, transport: mqtt, options: {broker_urls: ["mqtt://127.0.0.1:1"], username: ${canary("user")}, password: ${canary("password")}}}
  - {id: rabbit, transport: amqp, options: {url: "amqp://127.0.0.1:1", username: ${canary("amqp-user")}, password: ${canary("amqp-password")}}}
receivers:
  - {id: in, transport: http, options: {addr: "127.0.0.1:0", api_key: ${KEYS.receiver}}}
  - {id: topic, session_id: broker, topics: [{topic: in}]}
  - {id: queue, session_id: rabbit, options: {queue: in}}
  - {id: other, session_id: broker, topics: [{topic: other}]}
senders: [{id: away, session_id: broker}, {id: out, transport: http, options: {url: "${target}", bearer: ${canary("bearer")}, headers: {X-Sent: ${canary("sent-header")}}}}]
bindings: [{id: to-out, sender_id: out}, {id: to-topic, sender_id: away, address: "plant/\${env:PLACE}"}]
routes:
  - {id: waiting, receiver_id: other, bindings: [to-topic], delivery_mode: shared_outbox}
  - {id: held, receiver_id: in, bindings: [to-out], policy: {max_replay_attempts: 1}}
  - {id: queued, receiver_id: queue, bindings: [to-out]}
  - {id: kept, receiver_id: topic, bindings: [to-out], delivery_mode: shared_outbox, policy: {max_replay_attempts: 1}}
${more}`;

test("design 03 §4: what is planted as a secret, a payload or a header appears in no log, audit record, error, view or metric", async () => {
  using folder = new Folder();
  // A target that tells everybody what it was sent, and takes or refuses it as its address says.
  const target = createServer((request, response) => {
    const told = JSON.stringify(request.headers);
    request.on("data", (chunk: Buffer) => response.write(chunk)).on("end", () => response.end(told));
    response.statusCode = request.headers["x-subject"] === "refused" ? 400 : 200;
  }).listen(0, "127.0.0.1");
  await once(target, "listening");
  const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}`;
  folder.write("monitor.key", KEYS.monitor);
  folder.write("bridge.yaml", document(url));
  await using bridge = folder.run([], { ADMIN: KEYS.admin, PLACE: canary("address") });
  const [admin, monitor] = [`${await bridge.url("admin")}/api/v1/admin`, await bridge.url("monitor")];
  const { port } = await bridge.logged("HTTP receiver listens");
  await bridge.logged("bridge started");

  const told: string[] = [];
  const call = async (method: string, to: string, body?: string, headers: Record<string, string> = ADMIN) => {
    const response = await fetch(to, { method, headers, ...(body !== undefined && { body }) });
    const text = await response.text();
    told.push(`${method} ${response.status} ${text}`, JSON.stringify([...response.headers]));
    return { status: response.status, text };
  };
  const wrong = { "X-API-Key": canary("wrong-key") };
  const inside = { subject: "refused", headers: { site: canary("header") } };
  const payload = Buffer.from(canary("payload")).toString("base64");

  // Messages, taken and refused; callers with the wrong key; bodies that are no good.
  for (const subject of ["taken", "refused"]) {
    const headers = { "X-API-Key": KEYS.receiver, "X-Subject": subject, Site: canary("header") };
    expect((await call("POST", `http://127.0.0.1:${String(port)}/ingest/in`, canary("payload"), headers)).status).toBe(
      202,
    );
  }
  expect((await call("POST", `http://127.0.0.1:${String(port)}/ingest/in`, "x", wrong)).status).toBe(401);
  expect((await call("POST", `${admin}/routes/held/inject`, JSON.stringify({ ...inside, payload }))).status).toBe(422);
  expect((await call("POST", `${admin}/routes/kept/inject`, JSON.stringify({ ...inside, payload }))).status).toBe(422);
  expect((await call("POST", `${admin}/routes/held/inject`, `{"${canary("bad-body")}": "`)).status).toBe(400);
  expect((await call("POST", `${admin}/dlq/redrive`, JSON.stringify({ ids: [7, canary("bad-body")] }))).status).toBe(
    400,
  );
  expect((await call("GET", `${admin}/bridge`, undefined, wrong)).status).toBe(401);
  expect((await call("GET", `${monitor}/api/v1/monitor/deephealth`, undefined, wrong)).status).toBe(401);

  // A record for an address that came in through a reference, at a broker that is away.
  const waiting = call("POST", `${admin}/routes/waiting/inject`, JSON.stringify({ subject: "s", payload })).catch(
    () => {},
  );
  await eventually(
    () => call("GET", `${admin}/outbox/messages?route_id=waiting`).then(({ status, text }) => ({ status, body: text })),
    ({ body }) => String(body).includes('"address":"[REDACTED]"'),
  );

  // Redriven in vain.
  const listed = JSON.parse((await call("GET", `${admin}/dlq/messages`)).text) as { messages: { id: string }[] };
  expect(listed.messages).toHaveLength(3);
  const ids = listed.messages.map(({ id }) => id);
  expect((await call("POST", `${admin}/dlq/redrive`, JSON.stringify({ ids }))).status).toBe(207);

  // A configuration that is patched with a secret, and a file that is broken in the middle of one.
  const opened = JSON.parse((await call("POST", `${admin}/config/transactions`)).text) as { txn_id: string };
  const transaction = `${admin}/config/transactions/${opened.txn_id}`;
  expect(
    (await call("PATCH", transaction, JSON.stringify({ http: { monitor_api_key: canary("patched-key") } }))).status,
  ).toBe(200);
  expect(
    (await call("PATCH", transaction, JSON.stringify({ http: { admin_api_key: [canary("bad-body")] } }))).status,
  ).toBe(400);
  await call("GET", transaction);
  await call("POST", `${transaction}/validate`);
  expect((await call("POST", `${transaction}/commit`)).status).toBe(200);
  folder.write("bridge.yaml", document(url, `x: "${canary("broken-file")}\n`));
  await eventually(
    () => call("GET", `${monitor}/api/v1/monitor/deephealth`).then(({ status, text }) => ({ status, body: text })),
    ({ body }) => String(body).includes("last_error"),
  );

  // Everything that can be looked at; the single entry alone may show a payload.
  for (const path of [
    "bridge",
    "routes",
    "dlq",
    "dlq/messages",
    "outbox",
    "outbox/messages",
    "config",
    "config/history",
  ])
    await call("GET", `${admin}/${path}`);
  for (const path of ["deephealth", "topology", "routes", "metrics", "health", "live", "ready"])
    await call("GET", `${monitor}/api/v1/monitor/${path}`);
  for (const server of [admin.replace("/api/v1/admin", ""), monitor])
    await call("GET", `${server}/api/v1/openapi.json`);
  expect(await probe(monitor, "live")).toMatchObject({ status: 200 });
  bridge.kill("SIGTERM");
  expect(await bridge.ended).toBe(0);
  await waiting;
  target.close();

  const audit = readdirSync(folder.path).filter((name) => name.startsWith("audit.jsonl"));
  const kept = audit.map((name) => readFileSync(join(folder.path, name), "utf8"));
  expect(kept.join("")).toContain("config.txn.commit");
  for (const text of [bridge.stdout, bridge.stderr, ...kept, ...told])
    for (const secret of SEEN) expect(text.includes(secret) ? `${secret} in ${text}` : "").toBe("");
});
