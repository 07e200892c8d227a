import { createRegistry, parseConfig } from "@bridge/config";
import { createSupervisor, type Supervisor } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { type Clock, type OutboxStore, systemClock } from "@bridge/ports";
import { memoryHub, memory } from "@bridge/transport-memory";
import { testDynamo, type TestDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { dynamodbOutboxPlugin } from "../../src/outbox/dynamodb-outbox-plugin.ts";
import { makeTable, openOn } from "./support/outbox.ts";

const MESSAGES = 30;
const { signal } = new AbortController();
let dynamo: TestDynamo;

beforeAll(async () => void (dynamo = await testDynamo()));
afterAll(() => dynamo[Symbol.asyncDispose]());

/** A clock of its own, as every process has one, on which time passes thirty times as fast. */
function fastClock(ahead: number): Clock {
  return {
    ...systemClock,
    now: () => Date.now(),
    monotonic: () => ahead + performance.now() * 30,
    delay: (ms, bound) => systemClock.delay(ms / 30, bound),
    every: (ms, tick) => systemClock.every(ms / 30, tick),
  };
}

/** A bridge with a source and a target of its own, on the table of both. */
function instance(table: string, ahead: number) {
  const hub = memoryHub();
  const clock = fastClock(ahead);
  let store: OutboxStore | undefined;
  const registry = createRegistry({
    transports: [memory(hub)],
    dlqStores: [memoryDlq],
    outboxStores: [
      { ...dynamodbOutboxPlugin, create: () => async () => (store = await openOn(dynamo, table, { clock })) },
    ],
  });
  const config = parseConfig(
    {
      bridge: { id: "plant", drain_timeout: "1s", quiesce_timeout: "10ms", max_drain_timeout: "1s" },
      stores: {
        dlq: { type: "memory", options: { acknowledge_volatile: true } },
        outbox: { type: "dynamodb", options: { table_name: table } },
      },
      receivers: [{ id: "in", transport: "memory", options: { channel: "in" } }],
      senders: [{ id: "out", transport: "memory" }],
      bindings: [{ id: "to-out", sender_id: "out", address: "out" }],
      routes: [
        {
          id: "copy",
          receiver_id: "in",
          delivery_mode: "shared_outbox",
          bindings: ["to-out"],
          policy: { max_in_flight: 10, send_timeout: "60s" },
        },
      ],
    },
    registry,
  );
  const supervisor = createSupervisor({ config, registry, clock });
  /** Its connections are gone, as with its process; nothing of it is said any more. */
  const kill = async (): Promise<void> => store?.[Symbol.asyncDispose]();
  return { hub, supervisor, kill };
}

test("one instance is killed with a full outbox: the other delivers it, keys keep their order, and both books balance", async () => {
  const table = await makeTable(dynamo);
  const [one, other] = [instance(table, 0), instance(table, 1_000_000_000)];
  await one.supervisor.start(signal);
  one.hub.channel("out").sends.hold();
  for (let i = 0; i < MESSAGES; i++) {
    one.hub.publish("in", { id: `m${i}`, subject: `key-${i % 5}`, ...(i % 5 > 0 && { orderingKey: `key-${i % 5}` }) });
  }
  const settled = await one.hub.channel("in").waitForSettlements(MESSAGES, signal);
  expect(settled.every(({ settlement }) => settlement.kind === "accept")).toBe(true);
  await other.supervisor.start(signal);
  await one.kill();

  const arrived = await other.hub.channel("out").waitForMessages(MESSAGES, signal);
  expect(new Set(arrived.map(({ id }) => id)).size).toBe(MESSAGES);
  for (let key = 1; key < 5; key++) {
    const ids = arrived.filter(({ subject }) => subject === `key-${key}`).map(({ id }) => Number(id?.slice(1)));
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
  }
  expect(unaccounted(one.supervisor)).toBe(0);
  await expect
    .poll(() => booksOf(other.supervisor), { timeout: 60_000 })
    .toEqual({
      received: 0,
      recovered: MESSAGES,
      delivered: MESSAGES,
      inOutbox: 0,
    });
  expect(unaccounted(other.supervisor)).toBe(0);
  await other.supervisor.shutdown();
  await one.supervisor.shutdown().catch(() => {});
}, 120_000);

test("of two that live, what one has persisted and the other delivered leaves its books, and both balance", async () => {
  const table = await makeTable(dynamo);
  const [one, other] = [instance(table, 0), instance(table, 1_000_000_000)];
  // The target is away for the one only.
  one.hub.channel("out").sends.hold();
  await one.supervisor.start(signal);
  await other.supervisor.start(signal);
  for (let i = 0; i < MESSAGES; i++) one.hub.publish("in", { id: `m${i}` });
  // What is held is in the hands of the one; the rest goes to the other.
  await other.hub.channel("out").waitForMessages(MESSAGES - 10, signal);
  await expect.poll(() => booksOf(one.supervisor).inOutbox, { timeout: 60_000 }).toBeLessThanOrEqual(10);
  expect([unaccounted(one.supervisor), unaccounted(other.supervisor)]).toEqual([0, 0]);
  await other.supervisor.shutdown();
  await one.supervisor.shutdown().catch(() => {});
}, 120_000);

function unaccounted(supervisor: Supervisor): number {
  return supervisor.stats().unaccounted;
}

function booksOf(supervisor: Supervisor) {
  const { legs } = supervisor.stats();
  const sum = (value: (leg: (typeof legs)[number]) => number): number => legs.reduce((all, leg) => all + value(leg), 0);
  return {
    received: sum((leg) => leg.received),
    recovered: sum((leg) => leg.recovered),
    delivered: sum((leg) => leg.dispositions.delivered),
    inOutbox: sum((leg) => leg.inOutbox),
  };
}
