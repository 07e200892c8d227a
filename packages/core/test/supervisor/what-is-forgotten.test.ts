import { openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryOutbox } from "@bridge/memory";
import { type OutboxBacklog, type OutboxStore, systemRandom } from "@bridge/ports";
import { expect, test } from "vitest";
import { envelopeOf } from "../support/envelope.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, memoryBridge, outage } from "../support/memory-bridge.ts";
import { twoRoutes, withAttempts } from "../support/two-routes.ts";

test("what nobody delivers is what the last look has found, however late an earlier one is answered", async () => {
  const clock = new FakeClock();
  const inner = openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random: systemRandom() });
  const looks: PromiseWithResolvers<readonly OutboxBacklog[]>[] = [];
  const outbox: OutboxStore = {
    ...inner,
    shared: true,
    backlog() {
      const look = Promise.withResolvers<readonly OutboxBacklog[]>();
      looks.push(look);
      return look.promise;
    },
  };
  const { supervisor, config } = twoRoutes({ clock, deliveryMode: "shared_outbox", outbox });
  await supervisor.start(bound());
  await clock.until(() => looks.length === 1);
  expect(supervisor.view().undelivered).toEqual([]);
  expect(await supervisor.apply(withAttempts(config, "r", 9), bound())).toBe("applied");
  expect(looks).toHaveLength(2);
  looks[1]?.resolve([{ routeId: "r", bindingId: "gone", depth: 3, oldestCreatedAt: 0, blockedKeys: 0 }]);
  await clock.advance(0);
  looks[0]?.resolve([]);
  await clock.advance(0);
  expect(supervisor.view().undelivered).toEqual([{ routeId: "r", bindingId: "gone", depth: 3 }]);
  await supervisor.shutdown();
});

test("a session that the configuration in force has not is told of no more, and one that it has is told of from its first start on", async () => {
  const { clock, supervisor, config } = memoryBridge({ session: true });
  const { config: without } = memoryBridge();
  await supervisor.start(bound());
  await clock.until(() => supervisor.view().level === "full");
  const connects = (): readonly number[] => supervisor.stats().sessions.map((session) => session.connects);
  expect(connects()).toEqual([2]);
  expect(await supervisor.apply(withAttempts(config, "r", 9), bound())).toBe("applied");
  expect(connects()).toEqual([2]);
  expect(await supervisor.apply(without, bound())).toBe("applied");
  expect(connects()).toEqual([]);
  await supervisor.shutdown();
});

test("of a change that cannot be built nothing stays: its routes are not there to be paused", async () => {
  const { supervisor, config } = memoryBridge();
  const [route] = config.routes;
  if (route === undefined) throw new Error("there is one route");
  await supervisor.start(bound());
  const routes = [route, { ...route, id: "new" }, { ...route, id: "bad", bindings: ["nowhere"] }];
  await expect(supervisor.apply({ ...config, routes }, bound())).rejects.toThrow('no binding "nowhere"');
  expect(() => supervisor.pauseRoute("new")).toThrow("route not found");
  supervisor.pauseRoute("r");
  await supervisor.shutdown();
});

test("of a change that cannot be opened nothing stays either", async () => {
  const { hub, supervisor, config } = memoryBridge();
  const [receiver, route] = [config.receivers[0], config.routes[0]];
  if (receiver === undefined || route === undefined) throw new Error("there is one route");
  await supervisor.start(bound());
  hub.channel("other").opens.failNext(1, outage);
  const options = { ...(receiver.options as object), channel: "other" };
  const receivers = [receiver, { ...receiver, id: "new", options }];
  const routes = [route, { ...route, id: "new", receiverId: "new" }];
  await expect(supervisor.apply({ ...config, receivers, routes }, bound())).rejects.toThrow("runs again");
  expect(() => supervisor.pauseRoute("new")).toThrow("route not found");
  supervisor.pauseRoute("r");
  await supervisor.shutdown();
});

test("of bindings that no configuration has any more a thousand are counted each, and the oldest together", async () => {
  const bindings = ["out", ...Array.from({ length: 1_010 }, (_, nth) => `b${nth}`)];
  const { supervisor, config } = memoryBridge({ bindings });
  const legs = () => supervisor.stats().legs.map(({ bindingId }) => bindingId);
  await supervisor.start(bound());
  expect(legs()).toHaveLength(1_012);
  const routes = config.routes.map((route) => ({ ...route, bindings: ["out"] }));
  expect(await supervisor.apply({ ...config, routes }, bound())).toBe("applied");
  expect([legs().length, legs().includes("b9"), legs().includes("b10")]).toEqual([1_003, false, true]);
  await supervisor.shutdown();
});

test("a tap of a route that is removed ends", async () => {
  const { supervisor, config } = memoryBridge();
  await supervisor.start(bound());
  const next = supervisor.tap("r", { durationMs: 600_000 }).next(bound());
  expect(await supervisor.apply({ ...config, routes: [] }, bound())).toBe("applied");
  expect(await next).toBeUndefined();
  await supervisor.shutdown();
});

/** An outbox with one record of a binding that nobody delivers to. */
async function outboxWith(clock: FakeClock, bindingId?: string): Promise<OutboxStore> {
  const store = openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random: systemRandom() });
  if (bindingId === undefined) return store;
  const record = { id: "l", routeId: "r", address: "out", payloadDigest: "d", createdAt: 0 };
  await store.persist([{ ...record, bindingId, envelope: envelopeOf({ id: "m" }) }], bound());
  return store;
}

test("what nobody delivers is told of again when a change is undone", async () => {
  const clock = new FakeClock();
  const outbox = await outboxWith(clock, "gone");
  let opened = 0;
  const refused = new Error("the tables are of version 1");
  const dlq = async () => {
    if (opened++ === 1) throw refused;
    return openMemoryDlq({ maxEntries: 1 });
  };
  const { supervisor, config } = memoryBridge({ clock, deliveryMode: "shared_outbox", outbox, dlq });
  await supervisor.start(bound());
  const told = [{ routeId: "r", bindingId: "gone", depth: 1 }];
  await clock.until(() => supervisor.view().undelivered.length === 1);
  const stores = { ...config.stores, dlq: { type: "test", reach: "process", options: { place: "other" } } } as const;
  await expect(supervisor.apply({ ...config, stores }, bound())).rejects.toMatchObject({ cause: refused });
  await clock.until(() => supervisor.view().undelivered.length === 1);
  expect(supervisor.view().undelivered).toEqual(told);
  await supervisor.shutdown();
});

test("what nobody delivers is that of the outbox that is open, not of the one before it", async () => {
  const clock = new FakeClock();
  const stores = [await outboxWith(clock), await outboxWith(clock, "gone")];
  const outbox = async () => stores.shift() ?? outboxWith(clock);
  const { supervisor, config } = memoryBridge({ clock, deliveryMode: "shared_outbox", outbox });
  await supervisor.start(bound());
  const elsewhere = { type: "test", reach: "process", options: { place: "other" } } as const;
  const to = { ...config, stores: { ...config.stores, outbox: elsewhere } };
  expect(await supervisor.apply(to, bound())).toBe("applied");
  await clock.advance(1_000);
  expect(supervisor.view().undelivered).toEqual([{ routeId: "r", bindingId: "gone", depth: 1 }]);
  await supervisor.shutdown();
});
