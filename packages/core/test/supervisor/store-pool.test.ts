import { createRegistry, type StoreConfig, type StoreRole } from "@bridge/config";
import { openMemoryDlq, memoryDlq } from "@bridge/dlq-memory";
import { openMemoryLeases, openMemoryOutbox } from "@bridge/memory";
import { type Logger, silentLogger, systemRandom } from "@bridge/ports";
import { expect, test } from "vitest";
import { StorePool } from "../../src/supervisor/store-pool.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";

const AT = (place: string): StoreConfig => ({ type: "test", reach: "process", options: { place } });

/** A pool over memory stores, which tells how often each role was opened. */
function pool({ refused }: { readonly refused?: StoreRole } = {}) {
  const clock = new FakeClock();
  const random = systemRandom();
  const opened: Record<StoreRole, number> = { dlq: 0, outbox: 0, lease: 0 };
  let outboxesClosed = 0;
  const told: string[] = [];
  const logger: Logger = { ...silentLogger, error: (text) => void told.push(text), child: () => logger };
  const plugin = <Store>(role: StoreRole, open: () => Store) => ({
    type: "test",
    reach: "process" as const,
    options: memoryDlq.options,
    create: () => async () => {
      opened[role]++;
      if (role === refused) throw new Error("the tables are of version 1");
      return open();
    },
  });
  const registry = createRegistry({
    transports: [],
    processors: [],
    dlqStores: [plugin("dlq", () => openMemoryDlq({ maxEntries: 1 }))],
    outboxStores: [plugin("outbox", () => openMemoryOutbox({ maxRecords: 1, retentionMs: 1, clock, random }))],
    leaseStores: [plugin("lease", () => openMemoryLeases({ name: "pool" }))],
  });
  const watch = { look: async () => () => {}, closed: () => void outboxesClosed++ };
  return {
    clock,
    opened,
    told,
    pool: new StorePool(registry, { clock, random, logger }, watch),
    outboxesClosed: () => outboxesClosed,
    async [Symbol.asyncDispose](this: { readonly pool: StorePool }) {
      for (const phase of this.pool.closes()) await phase.run();
    },
  };
}

test("there is no store before one is configured, nor after it is configured no more", async () => {
  await using made = pool();
  const stores = made.pool;
  const all = () => [stores.dlq(), stores.outbox(), stores.leases()].map((store) => store !== undefined);
  expect(all()).toEqual([false, false, false]);
  await stores.open({ dlq: AT("a"), outbox: AT("a"), lease: AT("a") }, bound());
  expect(all()).toEqual([true, true, true]);
  await stores.open({ outbox: AT("a") }, bound());
  expect(all()).toEqual([false, true, false]);
});

test("a store whose block is the same is not opened again when another's changes", async () => {
  await using made = pool();
  const before = { dlq: AT("a"), outbox: AT("a"), lease: AT("a") };
  await made.pool.open(before, bound());
  await made.pool.open({ ...before, dlq: AT("b") }, bound());
  expect(made.opened).toEqual({ dlq: 2, outbox: 1, lease: 1 });
});

test("an outbox is told of as closed when there was one", async () => {
  await using made = pool();
  await made.pool.open({ outbox: AT("a") }, bound());
  expect(made.outboxesClosed()).toBe(0);
  await made.pool.open({}, bound());
  expect(made.outboxesClosed()).toBe(1);
});

test("a store that is refused at a start is not tried again behind the back of who was told", async () => {
  await using made = pool({ refused: "dlq" });
  await expect(made.pool.open({ dlq: AT("a") }, bound())).rejects.toThrow("the tables are of version 1");
  await made.clock.advance(120_000);
  expect([made.opened.dlq, made.told]).toEqual([1, []]);
  expect(made.pool.views({ dlq: AT("a") })).toEqual([
    { role: "dlq", type: "test", state: "closed", open: false, setAside: [] },
  ]);
});

test("a type that nothing was registered for is named", async () => {
  await using made = pool();
  const unknown = { ...AT("a"), type: "tset" };
  await expect(made.pool.open({ dlq: unknown }, bound())).rejects.toThrow(/"tset".*test/);
});
