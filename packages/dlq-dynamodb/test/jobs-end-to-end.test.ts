import { type AttributeValue, DynamoDBClient, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { createRegistry, parseConfig } from "@bridge/config";
import { createSupervisor, type Job } from "@bridge/core";
import { BridgeError, type DlqStorePlugin, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { PATIENCE } from "@bridge/tooling/patience";
import { testDynamo } from "@bridge/tooling/test-dynamodb";
import { memory, memoryHub } from "@bridge/transport-memory";
import { afterAll, beforeEach, expect, test } from "vitest";
import { dynamodbDlqPlugin } from "../src/dynamodb-dlq-plugin.ts";
import { deadLetter } from "./support/dead-letter.ts";
import { makeTable, openDlq } from "./support/dlq-tables.ts";

const dynamo = await testDynamo();
afterAll(() => dynamo[Symbol.asyncDispose]());
beforeEach(() => dynamo.reset());

const ENTRIES = 60;
const CONCURRENCY = 4;
const SETTINGS = {
  rate: 15,
  concurrency: CONCURRENCY,
  ramp: [],
  rampPauseMs: 0,
  halt: { failureRatio: 1, minAttempts: 20, consecutive: 0 },
} as const;
const bound = (): AbortSignal => AbortSignal.timeout(PATIENCE.timeout);

/** An instance whose process can be killed: then its store neither does nor hears anything. */
async function instance(table: string, instanceId: string) {
  const life = { isDead: false };
  const plugin: DlqStorePlugin = {
    ...dynamodbDlqPlugin,
    create: () => async () => mortal(await openDlq(dynamo, table), life),
  };
  const hub = memoryHub();
  const registry = createRegistry({ transports: [memory(hub)], dlqStores: [plugin] });
  const document = {
    bridge: {
      id: "b",
      instance_id: instanceId,
      deployment_mode: "clustered" as const,
      lease_ttl: "3s",
      quiesce_timeout: "1ms",
    },
    stores: { dlq: { type: "dynamodb", options: { table_name: table } } },
    receivers: [{ id: "in", transport: "memory", options: { channel: "in" } }],
    senders: [{ id: "out", transport: "memory" }],
    bindings: [{ id: "to", sender_id: "out", address: "out" }],
    routes: [{ id: "r", receiver_id: "in", bindings: ["to"], policy: { max_in_flight: 20 } }],
  };
  const seams = { clock: systemClock, random: systemRandom(), logger: silentLogger };
  const supervisor = createSupervisor({ config: parseConfig(document, registry), registry, ...seams });
  await supervisor.start(bound());
  return { hub, supervisor, life };
}

type Instance = Awaited<ReturnType<typeof instance>>;

function mortal<Part extends object>(part: Part, life: { readonly isDead: boolean }): Part {
  return new Proxy(part, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof key === "symbol" || value === null || value === undefined) return value;
      if (typeof value === "object") return mortal(value, life);
      if (typeof value !== "function" || key === "health") return value;
      return (...given: readonly unknown[]): unknown =>
        life.isDead
          ? Promise.reject(new BridgeError("CONNECTION_LOST", "killed"))
          : Reflect.apply(value as (...given: readonly unknown[]) => unknown, target, given);
    },
  });
}

async function begun({ supervisor }: Instance, kind: Job["kind"], changes: object = {}): Promise<Job> {
  const order = { kind, query: { routeId: "r" }, reason: "a test", actor: "alice", settings: SETTINGS, ...changes };
  const { job } = await supervisor.jobs().plan(order, bound());
  expect(job.plan).toMatchObject({ total: ENTRIES });
  return supervisor.jobs().start(job.id, { planHash: job.plan.hash }, bound());
}

async function until({ supervisor }: Instance, { id }: Job, holds: (job: Job) => boolean): Promise<Job> {
  await expect.poll(async () => holds(await supervisor.jobs().get(id, bound())), { interval: 100 }).toBe(true);
  return supervisor.jobs().get(id, bound());
}

const ended =
  (state: Job["state"]) =>
  (job: Job): boolean =>
    job.state === state && job.owner === undefined;

async function filled(): Promise<string> {
  const table = await makeTable(dynamo);
  await using store = await openDlq(dynamo, table);
  for (let nth = 0; nth < ENTRIES; nth++) {
    const id = `e${nth}`;
    await store.put(
      deadLetter(id, { routeId: "r", bindingId: "to", envelope: { id: `m-${id}`, subject: id } }),
      bound(),
    );
  }
  return table;
}

test("operators 3.5.2: on DynamoDB a job of two instances is planned, run, taken over from an owner that is killed, and complete", async () => {
  const table = await filled();
  const [one, other] = [await instance(table, "one"), await instance(table, "other")];
  const job = await begun(one, "redrive");
  await until(one, job, ({ counts }) => counts.succeeded >= 10);
  one.life.isDead = true;
  const done = await until(other, job, ended("completed"));
  const arrived = [one, other].flatMap(({ hub }) => hub.channel("out").messages());
  const repeated = arrived.length - ENTRIES;
  expect(new Set(arrived.map(({ subject }) => subject)).size).toBe(ENTRIES);
  // Whoever got one twice can tell by its id.
  expect(new Set(arrived.map(({ id }) => id)).size).toBe(ENTRIES);
  expect(repeated).toBeLessThanOrEqual(CONCURRENCY);
  expect(done.counts).toMatchObject({ failed: 0, inDoubt: CONCURRENCY });
  expect(done.counts.succeeded + done.counts.skipped).toBe(ENTRIES);
  expect(other.supervisor.stats().jobs.adoptions).toBe(1);
  await using store = await openDlq(dynamo, table);
  expect(await store.count(10, bound())).toBe(0);
  await other.supervisor.shutdown();
  one.life.isDead = false;
  await one.supervisor.shutdown();
});

test("operators 3.1: on DynamoDB a purge is taken back whole, while the index of its trash lags", async () => {
  const table = await filled();
  const one = await instance(table, "one");
  const purge = await begun(one, "purge", { undoWithinMs: 3_600_000, settings: { ...SETTINGS, rate: 5_000 } });
  expect((await until(one, purge, ended("completed"))).counts).toMatchObject({ succeeded: ENTRIES });
  await using store = await openDlq(dynamo, table);
  expect(await store.count(100, bound())).toBe(0);
  let lagging = 0;
  // What an index that lags shows of what has just come into it.
  dynamo.choose = (operation, body) =>
    operation === "Query" && body.includes('"trash/') && lagging++ < 20
      ? { answer: { Items: [], Count: 0, ScannedCount: 0, ConsumedCapacity: { CapacityUnits: 0.5 } } }
      : undefined;
  await one.supervisor.jobs().ask(purge.id, { call: "undo" }, bound());
  const undone = await until(one, purge, ended("undone"));
  expect(lagging).toBeGreaterThan(20);
  expect(undone.counts).toMatchObject({ restored: ENTRIES });
  expect(await store.count(100, bound())).toBe(ENTRIES);
  expect(await store.get("e7", bound())).toMatchObject({ id: "e7", routeId: "r" });
  await one.supervisor.shutdown();
});

test("on DynamoDB a redrive of all routes passes none over whose head, or whose place in the index by route, somebody has changed", async () => {
  const table = await makeTable(dynamo);
  const client = new DynamoDBClient(dynamo.sdk);
  {
    await using store = await openDlq(dynamo, table);
    for (const id of ["e0", "e1", "e2"])
      await store.put(
        deadLetter(id, { routeId: "r", bindingId: "to", envelope: { id: `m-${id}`, subject: id } }),
        bound(),
      );
  }
  const change = async (
    id: string,
    changed: (item: Readonly<Record<string, AttributeValue>>) => object,
  ): Promise<void> => {
    const { Item = {} } = await client.send(new GetItemCommand({ TableName: table, Key: { id: { S: id } } }));
    await client.send(new PutItemCommand({ TableName: table, Item: { ...Item, ...changed(Item) } }));
  };
  await change("e1", ({ head }) => ({ head: { S: head?.S?.replace('"routeId":"r"', '"routeId":"other"') } }));
  await change("e2", ({ route_shard: place }) => ({ route_shard: { S: place?.S?.replace(/r$/, "other") } }));
  client.destroy();
  const one = await instance(table, "one");
  const order = { kind: "redrive", query: {}, reason: "a test", actor: "alice", settings: SETTINGS } as const;
  const { job } = await one.supervisor.jobs().plan(order, bound());
  await one.supervisor.jobs().start(job.id, { planHash: job.plan.hash }, bound());
  const done = await until(one, job, ended("completed"));
  expect(done.counts).toMatchObject({ succeeded: 2, failed: 1, skipped: 0 });
  expect(done.errors).toMatchObject([{ code: "INTERNAL", count: 1, ids: ["e1"] }]);
  expect(
    one.hub
      .channel("out")
      .messages()
      .map(({ subject }) => subject)
      .toSorted(),
  ).toEqual(["e0", "e2"]);
  await one.supervisor.shutdown();
});
