import { defineBridge } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { memory } from "@bridge/transport-memory";
import { expect, test } from "vitest";
import { type FunctionMessage, handler, source, type SourceItem } from "../src/index.ts";

const stores = { dlq: memoryDlq({ acknowledge_volatile: true }) };

async function* nothing(): AsyncGenerator<SourceItem> {}

test("the document of a bridge in code names its functions by the ids of their parts", () => {
  const orders = { from: source(nothing), to: handler(() => {}) };
  const { receivers, senders } = defineBridge({ id: "shop", stores, routes: { orders } }).document();
  expect(receivers).toMatchObject([{ id: "orders", transport: "function", options: { source: "orders" } }]);
  expect(senders).toMatchObject([{ id: "orders", transport: "function", options: { handler: "orders" } }]);
});

test("a handler that two routes name is one sender, and a batch of it takes messages of both", async () => {
  const batches: (readonly string[])[] = [];
  const both = handler.batch(
    (messages: readonly FunctionMessage[]) => void batches.push(messages.map((message) => message.text())),
    { size: 2, within: "10s" },
  );
  const inside = memory();
  const shop = defineBridge({
    id: "shop",
    stores,
    routes: {
      orders: { from: inside.channel("orders"), to: both },
      invoices: { from: inside.channel("invoices"), to: both },
    },
  });
  expect(shop.document().senders).toHaveLength(1);
  await using bridge = await shop.start();
  inside.hub.publish("orders", { payload: "an order" });
  inside.hub.publish("invoices", { payload: "an invoice" });
  const soon = AbortSignal.timeout(10_000);
  await Promise.all(["orders", "invoices"].map((name) => inside.hub.channel(name).waitForSettlements(1, soon)));
  expect(batches.map((batch) => batch.toSorted())).toEqual([["an invoice", "an order"]]);
  expect(bridge.stats().unaccounted).toBe(0);
});

test("each bridge of one definition has functions of its own", async () => {
  const seen: string[] = [];
  const one = async function* (): AsyncGenerator<SourceItem> {
    yield { payload: "a" };
    await done.promise;
  };
  const done = Promise.withResolvers<void>();
  const routes = {
    r: { from: source(one), to: handler((message) => void (seen.push(message.text()) === 2 && done.resolve())) },
  };
  await using first = await defineBridge({ id: "first", stores, routes }).start();
  await using second = await defineBridge({ id: "second", stores, routes }).start();
  await done.promise;
  expect(seen).toEqual(["a", "a"]);
  expect([first, second].map((bridge) => bridge.view().health)).toEqual(["ok", "ok"]);
});
