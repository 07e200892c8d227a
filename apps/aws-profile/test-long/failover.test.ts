/**
 * Two processes of the built `bridge-aws` on one exclusive session: leases and dead letters in DynamoDB (an emulator), messages
 * from RabbitMQ on loopback. @module
 */
import { PATIENCE } from "@bridge/tooling/patience";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { openDynamodbLeases } from "@bridge/dynamodb";
import { silentLogger, systemClock, systemRandom } from "@bridge/ports";
import type { BinaryProcess } from "@bridge/tooling/binary-process";
import { type ChannelModel, type ConfirmChannel, connect } from "amqplib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ask, Site } from "../test/support/site.ts";
import { type Tables, tablesFor } from "../test/support/tables.ts";

const RABBITMQ = { host: "127.0.0.1", port: 5672 };
const TTL_MS = 4_000;
const POLL_MS = 300;
/** What a busy machine may add to a takeover: a process that is told late, a connection that is made late. */
const SLACK_MS = 2_000;
const WINDOW = 20;
/** The target takes its time, so that there is always something under way. */
const ANSWER_MS = 30;

interface Arrival {
  readonly body: string;
  readonly instance: string;
  readonly at: number;
}

let site: Site;
let tables: Tables;
let rabbit: ChannelModel;
let channel: ConfirmChannel;
let queue: string;
let target: Server;
const arrivals: Arrival[] = [];
const instances: BinaryProcess[] = [];

beforeEach(async () => {
  arrivals.length = 0;
  site = await Site.open();
  tables = await tablesFor(site);
  rabbit = await connect({ hostname: RABBITMQ.host, port: RABBITMQ.port });
  channel = await rabbit.createConfirmChannel();
  queue = `bridge-aws-failover-${crypto.randomUUID()}`;
  await channel.assertQueue(queue, { durable: true, arguments: { "x-queue-type": "quorum" } });
  target = createServer((request, response) => {
    const { "x-instance": instance } = request.headers;
    void request.toArray().then(async (chunks: Buffer[]) => {
      arrivals.push({ body: Buffer.concat(chunks).toString(), instance: String(instance), at: performance.now() });
      await delay(ANSWER_MS);
      response.end();
    });
  });
  target.listen(0, "127.0.0.1");
  await once(target, "listening");
});
afterEach(async () => {
  for (const instance of instances.splice(0)) await instance[Symbol.asyncDispose]();
  target.closeAllConnections();
  target.close();
  await channel.deleteQueue(queue);
  await rabbit.close();
  await tables[Symbol.asyncDispose]();
  await site[Symbol.asyncDispose]();
});

function bootstrapOf(name: string) {
  const { port } = target.address() as AddressInfo;
  const policy = { max_in_flight: WINDOW, backoff: { initial_interval: "100ms", max_interval: "500ms" } };
  const document = {
    bridge: {
      id: "test",
      deployment_mode: "clustered",
      lease_ttl: `${TTL_MS}ms`,
      lease_poll_interval: `${POLL_MS}ms`,
    },
    stores: {
      lease: { type: "dynamodb", options: { table_name: "leases" } },
      dlq: { type: "dynamodb", options: { table_name: "dlq" } },
    },
    sessions: [
      {
        id: "rabbit",
        transport: "amqp",
        session_mode: "exclusive",
        options: { url: `amqp://${RABBITMQ.host}:${RABBITMQ.port}` },
      },
    ],
    receivers: [{ id: "in", session_id: "rabbit", options: { queue } }],
    senders: [
      {
        id: "out",
        transport: "http",
        options: { url: `http://127.0.0.1:${port}`, headers: { "x-instance": name } },
      },
    ],
    bindings: [{ id: "to-out", sender_id: "out" }],
    routes: [{ id: "only", receiver_id: "in", bindings: ["to-out"], policy }],
  };
  const file = `${name}.json`;
  site.write(file, JSON.stringify(document));
  return site.bootstrap({ instance_id: name, config_file_path: file });
}

function run(name: string): BinaryProcess {
  const instance = site.run(bootstrapOf(name));
  instances.push(instance);
  return instance;
}

async function becomes(instance: BinaryProcess, level: string, role: string): Promise<void> {
  await expect
    .poll(async () => ask(instance, "monitor", `ready?level=${level}`), PATIENCE)
    .toMatchObject({ status: 200, body: { role } });
}

/** An owner and a standby, on tables that the binary has made. */
async function pair(): Promise<readonly [owner: BinaryProcess, standby: BinaryProcess]> {
  {
    await using made = site.run(bootstrapOf("tables"), ["-create-tables"]);
    expect(await made.ended).toBe(0);
  }
  const owner = run("a");
  await becomes(owner, "full", "active");
  const standby = run("b");
  await becomes(standby, "subscribed", "standby");
  return [owner, standby];
}

async function lease() {
  await using store = await openDynamodbLeases(
    {
      clock: systemClock,
      random: systemRandom(),
      logger: silentLogger,
      sdk: tables.dynamo.sdk,
      tableName: "leases",
    },
    AbortSignal.timeout(20_000),
  );
  return await store.read("test/rabbit", AbortSignal.timeout(20_000));
}

/** Publishes numbers until it is told to stop; `stop` resolves with how many the broker has. */
function traffic(): { stop(): Promise<number> } {
  let published = 0;
  const over = new AbortController();
  const publishing = (async () => {
    while (!over.signal.aborted) {
      channel.sendToQueue(queue, Buffer.from(String(published++)), { persistent: true });
      await delay(5);
    }
    await channel.waitForConfirms();
    return published;
  })();
  return {
    stop() {
      over.abort();
      return publishing;
    },
  };
}

async function allArrive(published: number): Promise<void> {
  await expect.poll(() => new Set(arrivals.map(({ body }) => body)).size, PATIENCE).toBe(published);
}

describe("two processes of bridge-aws on one exclusive session", { timeout: 120_000 }, () => {
  test("an owner that is killed: the standby takes over within the ttl and two polls, and nothing is lost", async () => {
    const [owner, standby] = await pair();
    const flow = traffic();
    await expect.poll(() => arrivals.length, PATIENCE).toBeGreaterThan(50);
    const killedAt = performance.now();
    owner.kill("SIGKILL");
    await standby.logged("lease acquired");
    const tookMs = performance.now() - killedAt;
    console.log(`taken over ${Math.round(tookMs)} ms after the kill (ttl ${TTL_MS} ms, poll ${POLL_MS} ms)`);
    expect(tookMs).toBeLessThan(TTL_MS + 2 * POLL_MS + SLACK_MS);
    await becomes(standby, "full", "active");
    expect(await lease()).toMatchObject({ token: 2 });
    const published = await flow.stop();
    await allArrive(published);
    expect(arrivals.length - published).toBeLessThanOrEqual(WINDOW);
    standby.kill("SIGTERM");
    expect(await standby.ended).toBe(0);
  });

  test("an owner that stood still past its ttl sends and writes nothing when it goes on, and exits 1", async () => {
    const [owner, standby] = await pair();
    const flow = traffic();
    await expect.poll(() => arrivals.length, PATIENCE).toBeGreaterThan(50);
    owner.kill("SIGSTOP");
    const stoppedAt = performance.now();
    await becomes(standby, "full", "active");
    const taken = await lease();
    expect(taken).toMatchObject({ token: 2 });
    expect(taken?.holder).toMatch(/^b\//);
    const before = arrivals.length;
    await expect.poll(() => arrivals.length, PATIENCE).toBeGreaterThan(before + 50);
    owner.kill("SIGCONT");
    expect(await owner.ended).toBe(1);
    const sentence = "the bridge is beyond recovery: a new process has to take over";
    expect(owner.log.find(({ msg }) => msg === sentence)).toMatchObject({ cause: "lease_lost" });
    expect(await lease()).toMatchObject({ token: 2, holder: taken?.holder });
    const published = await flow.stop();
    await allArrive(published);
    // What was on its way when it was stopped is read at once.
    expect(arrivals.filter(({ instance, at }) => instance === "a" && at > stoppedAt + TTL_MS)).toEqual([]);
    expect(arrivals.length - published).toBeLessThanOrEqual(WINDOW);
    expect((await ask(standby, "admin", "dlq")).body).toMatchObject({ count: 0 });
  });
});
