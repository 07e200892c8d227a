import { createRegistry, parseConfig } from "@bridge/config";
import { createSupervisor } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { BridgeError, type Clock, type OutboxRecord, type OutboxStore, systemClock } from "@bridge/ports";
import { memoryHub, type MemoryHub, memory } from "@bridge/transport-memory";
import { noPostgresCluster, PostgresCluster } from "@bridge/tooling/postgres-cluster";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { postgresOutboxPlugin } from "../../src/outbox/postgres-outbox-plugin.ts";
import { type Connection, makeTables, openOn, type TestTables } from "./support/outbox.ts";
import { claimAll, done, idsOf, recordOf } from "./support/records.ts";

const { signal } = new AbortController();
/** By so much time passes faster in the bridges and at their server. */
const FASTER = 30;
/** A try is given up while the server is frozen. */
const HASTY = { clock: systemClock, tryTimeoutMs: 400, callTimeoutMs: 60_000 } as const;

/** A call for several records that is late is given up, so that the next one can be smaller. */
async function untilInTime<Result>(call: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!BridgeError.is(error) || error.code !== "TIMEOUT") throw error;
      signal.throwIfAborted();
    }
  }
}

describe.skipIf(noPostgresCluster)("a server that is killed, frozen and restarted under traffic", () => {
  let cluster: PostgresCluster;
  let connection: Connection;
  beforeAll(async () => void (cluster = await PostgresCluster.start()), 60_000);
  afterAll(() => cluster[Symbol.asyncDispose](), 60_000);
  // They go with the server.
  let tables: TestTables;
  beforeEach(async () => void ({ connection } = tables = await makeTables(cluster.url)));

  /** What servers have to go through, each time after so many of what is counted. */
  async function troubles(count: () => number, every: number): Promise<void> {
    const after = async (n: number): Promise<void> => {
      await expect.poll(count, { timeout: 60_000, interval: 5 }).toBeGreaterThanOrEqual(n);
    };
    await after(every);
    await cluster.stop("immediate");
    await cluster.restart();
    await after(every * 2);
    cluster.freeze();
    await systemClock.delay(1_200, signal);
    cluster.thaw();
    await after(every * 3);
    await cluster.stop("fast");
    await cluster.restart();
  }

  test("everything that was persisted ends, and is said to end, once", async () => {
    const stores = [await openOn(connection, { postgres: HASTY }), await openOn(connection, { postgres: HASTY })];
    const total = 500;
    const persisted = new Set<string>();
    const ended: string[] = [];
    const sent: string[] = [];
    const produce = async (store: OutboxStore, from: number): Promise<void> => {
      for (let i = from; i < total; i += 2) {
        const record: OutboxRecord = recordOf(`${i}`, { orderingKey: i % 4 < 2 ? `key-${i % 6}` : undefined });
        const [result] = await store.persist([record], signal);
        expect(result).toEqual({ kind: "persisted" });
        persisted.add(record.id);
      }
    };
    const drain = async (store: OutboxStore): Promise<void> => {
      while (ended.length < total) {
        signal.throwIfAborted();
        const claims = await untilInTime(() => claimAll(store, signal, 20, 60_000));
        sent.push(...idsOf(claims));
        const entered = await untilInTime(() => store.finish(claims.map(done), signal));
        ended.push(...idsOf(claims.filter((_, i) => entered[i])));
        if (claims.length === 0) await systemClock.delay(5, signal);
      }
    };
    await Promise.all([
      ...stores.flatMap((store, i) => [produce(store, i), drain(store)]),
      troubles(() => ended.length, 100),
    ]);
    expect(new Set(ended)).toEqual(persisted);
    // No loan has lapsed: none was lost, so that nothing was sent twice.
    expect(sent).toHaveLength(total);
    expect(await stores[0]?.backlog(signal)).toEqual([]);
    for (const store of stores) await store[Symbol.asyncDispose]();
  }, 120_000);

  /** A process of its own: its clock has begun elsewhere, and time passes faster. */
  function fastClock(ahead: number): Clock {
    return {
      ...systemClock,
      now: () => Date.now(),
      monotonic: () => ahead + performance.now() * FASTER,
      delay: (ms, bound) => systemClock.delay(ms / FASTER, bound),
      every: (ms, tick) => systemClock.every(ms / FASTER, tick),
    };
  }

  function instance(hub: MemoryHub, channel: string, ahead: number) {
    const clock = fastClock(ahead);
    const registry = createRegistry({
      transports: [memory(hub)],
      dlqStores: [memoryDlq],
      outboxStores: [{ ...postgresOutboxPlugin, create: () => () => openOn(connection, { clock, postgres: HASTY }) }],
    });
    const config = parseConfig(
      {
        bridge: { id: "plant", drain_timeout: "30s", quiesce_timeout: "10s", max_drain_timeout: "1s" },
        stores: {
          dlq: { type: "memory", options: { acknowledge_volatile: true } },
          outbox: { type: "postgres", options: {} },
        },
        receivers: [{ id: "in", transport: "memory", options: { channel } }],
        senders: [{ id: "out", transport: "memory" }],
        bindings: [{ id: "to-out", sender_id: "out", address: "out" }],
        routes: [
          {
            id: "copy",
            receiver_id: "in",
            delivery_mode: "shared_outbox",
            bindings: ["to-out"],
            policy: { max_in_flight: 20, send_timeout: "60s" },
          },
        ],
      },
      registry,
    );
    return createSupervisor({ config, registry, clock });
  }

  test("two bridges on it deliver all, keys keep their order, and both books balance", async () => {
    // Loans that are lost with a bridge's patience are over as soon.
    await tables.schema
      .rows(`CREATE OR REPLACE FUNCTION ${connection.schema}.outbox_now() RETURNS timestamptz LANGUAGE sql
      AS $$SELECT 'epoch'::timestamptz + (clock_timestamp() - 'epoch'::timestamptz) * ${FASTER}$$`);
    const hub = memoryHub();
    const messages = 700;
    const bridges = [instance(hub, "in", 0), instance(hub, "nothing", 1_000_000_000)];
    for (const bridge of bridges) await bridge.start(signal);
    const keyOf = (i: number) => (i % 3 === 0 ? undefined : `key-${i % 7}`);
    const publish = async (): Promise<void> => {
      for (let i = 0; i < messages; i++) {
        hub.publish("in", { id: `m${i}`, subject: `${i}`, orderingKey: keyOf(i) });
        if (i % 50 === 0) await systemClock.delay(1, signal);
      }
    };
    await Promise.all([publish(), troubles(() => hub.channel("out").arrived, 150)]);
    const arrived = await hub.channel("out").waitForMessages(messages, signal);
    await hub.channel("in").waitForSettlements(messages, signal);
    const first = [...new Set(arrived.map(({ id }) => id))];
    expect(first).toHaveLength(messages);
    for (const key of new Set(Array.from({ length: messages }, (_, i) => keyOf(i)))) {
      if (key === undefined) continue;
      const ids = first.map((id) => Number(id?.slice(1))).filter((i) => keyOf(i) === key);
      expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    }
    for (const bridge of bridges) {
      await expect.poll(() => bridge.stats().legs[0]?.inOutbox, { timeout: 60_000 }).toBe(0);
      expect(bridge.stats().unaccounted).toBe(0);
      await bridge.shutdown();
    }
  }, 120_000);
});
