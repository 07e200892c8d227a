import { PATIENCE } from "@bridge/tooling/patience";
import { once } from "node:events";
import { createServer as createWeb, type Server } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { Aedes } from "aedes";
import { startFauxqs } from "fauxqs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ADMIN_KEY, ask, Site } from "./support/site.ts";
import { CONFIG_TABLE, type Tables, tablesFor } from "./support/tables.ts";

const DROP = { on_permanent_failure: "drop", on_expired: "drop" };

/** A broker in this process, which speaks MQTT 3.1.1. */
async function openBroker() {
  const broker = await Aedes.createBroker();
  const server = createServer(broker.handle).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`,
    publish: (topic: string, payload: string): Promise<void> =>
      new Promise((resolve, reject) => {
        const packet = { cmd: "publish", topic, payload, qos: 1, dup: false, retain: false } as const;
        broker.publish(packet, (error) => (error ? reject(error) : resolve()));
      }),
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => broker.close(() => resolve()));
      server.close();
    },
  };
}

/** A web service that answers as it is told to. */
class Web {
  status = 200;
  readonly bodies: string[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", (request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (text: string) => (body += text));
      request.on("end", () => {
        if (this.status === 200) this.bodies.push(body);
        response.writeHead(this.status).end();
      });
    });
  }

  static async open(): Promise<Web> {
    const server = createWeb().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Web(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  [Symbol.dispose](): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

let site: Site;
let tables: Tables;
let broker: Awaited<ReturnType<typeof openBroker>>;
let sqs: Awaited<ReturnType<typeof startFauxqs>>;
let web: Web;
let queue: string;
beforeAll(async () => {
  site = await Site.open();
  tables = await tablesFor(site);
  [broker, web] = await Promise.all([openBroker(), Web.open()]);
  sqs = await startFauxqs({ port: 0, host: "127.0.0.1", logger: false });
  const endpoint = `http://127.0.0.1:${sqs.port}`;
  Object.assign(site.env, { AWS_ENDPOINT_URL_SQS: endpoint });
  sqs.createQueue("between");
  queue = `${endpoint}/000000000000/between`;
});
afterAll(async () => {
  web[Symbol.dispose]();
  await sqs.stop();
  await broker[Symbol.asyncDispose]();
  await tables[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

const bootstrap = () =>
  site.bootstrap({ config_source: "dynamodb", config_file_path: "", config_table: CONFIG_TABLE, poll_interval: "1s" });

/** From a listener over an outbox, and from a broker under a lease, to a queue; and from there to a web service. */
const document = (lease_ttl: string) => ({
  bridge: { id: "test", deployment_mode: "clustered", lease_ttl, lease_poll_interval: "100ms" },
  stores: {
    dlq: { type: "dynamodb", options: { table_name: "test-dlq" } },
    outbox: { type: "dynamodb", options: { table_name: "test-outbox" } },
    lease: { type: "dynamodb", options: { table_name: "test-leases" } },
  },
  sessions: [
    {
      id: "broker",
      transport: "mqtt",
      session_mode: "exclusive",
      options: { broker_urls: [broker.url], protocol_version: 4 },
    },
  ],
  receivers: [
    { id: "web-in", transport: "http", options: { addr: "127.0.0.1:0" } },
    { id: "topic-in", session_id: "broker", topics: [{ topic: "in/#", qos: 1 }] },
    { id: "queue-in", transport: "sqs", options: { queue_url: queue, wait_time: "1s" } },
  ],
  senders: [
    { id: "queue-out", transport: "sqs", options: { queue_url: queue } },
    { id: "web-out", transport: "http", options: { url: web.url } },
  ],
  bindings: [
    { id: "to-queue", sender_id: "queue-out" },
    { id: "to-web", sender_id: "web-out" },
  ],
  routes: [
    { id: "posted", receiver_id: "web-in", delivery_mode: "shared_outbox", bindings: ["to-queue"], policy: DROP },
    { id: "published", receiver_id: "topic-in", bindings: ["to-queue"], policy: { ...DROP, send_timeout: "1s" } },
    { id: "queued", receiver_id: "queue-in", bindings: ["to-web"] },
  ],
});

describe("everything on AWS in one process", () => {
  test("messages go from a listener and a broker over an outbox and a queue to their target, to the dead letters and back", async () => {
    await using tablesMade = site.run(bootstrap(), ["-create-tables"]);
    expect(await tablesMade.ended).toBe(0);
    await tables.putConfig("test", document("60s"));
    await using rest = site.run(bootstrap(), ["-create-tables"]);
    expect(await rest.ended).toBe(0);
    await using valid = site.run(bootstrap(), ["-validate"]);
    expect(await valid.ended).toBe(0);

    await using instance = site.run(bootstrap());
    await instance.logged("bridge started");
    await vi.waitFor(
      async () =>
        expect((await ask(instance, "monitor", "deephealth")).body).toMatchObject({ role: "active", level: "full" }),
      PATIENCE,
    );
    const { port } = await instance.logged("HTTP receiver listens");
    const posted = await fetch(`http://127.0.0.1:${String(port)}/ingest/web-in`, { method: "POST", body: "posted" });
    expect(await posted.json()).toMatchObject({ status: "accepted", outcome: "persisted" });
    await broker.publish("in/a", "published");
    await vi.waitFor(() => expect(new Set(web.bodies)).toEqual(new Set(["posted", "published"])), PATIENCE);

    // What the target will not have is a dead letter, until it will.
    web.status = 422;
    await broker.publish("in/b", "refused");
    const letters = async () => (await ask(instance, "admin", "dlq/messages")).body["messages"] as { id: string }[];
    await vi.waitFor(async () => expect(await letters()).toHaveLength(1), PATIENCE);
    web.status = 200;
    const headers = { "X-API-Key": ADMIN_KEY, "Content-Type": "application/json" };
    const body = JSON.stringify({ ids: (await letters()).map(({ id }) => id) });
    expect(await ask(instance, "admin", "dlq/redrive", { method: "POST", headers, body })).toMatchObject({
      status: 200,
      body: { redriven: 1, failed: 0 },
    });
    expect(web.bodies).toContain("refused");
    expect(await letters()).toEqual([]);

    instance.kill("SIGTERM");
    expect(await instance.ended).toBe(0);
    expect(instance.log.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("spec 3.4, 3.1: an instance that loses its lease and cannot have it back: 1", async () => {
    await tables.putConfig("test", document("2s"));
    await using instance = site.run(bootstrap());
    await vi.waitFor(
      async () => expect((await ask(instance, "monitor", "deephealth")).body).toMatchObject({ role: "active" }),
      PATIENCE,
    );
    tables.dynamo.choose = () => "cut";
    expect(await instance.ended).toBe(1);
    expect(await instance.logged("the bridge is beyond recovery: a new process has to take over")).toMatchObject({
      cause: "lease_lost",
    });
  });
});
