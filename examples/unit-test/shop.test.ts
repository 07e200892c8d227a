import { BridgeError } from "@bridge/ports";
import { createTestBridge } from "@bridge/transport-memory";
import { expect, test } from "vitest";
import { shop } from "./shop.ts";

test("an order arrives, a test order does not, and one for a shop that is closed becomes a dead letter", async () => {
  await using bridge = await createTestBridge((inside) => shop(inside.channel("orders"), inside.at("erp")));
  await bridge.send("orders", { payload: { item: "apple" } });
  await bridge.send("orders", { payload: { item: "pear" }, headers: { test: "yes" } });
  expect((await bridge.received("erp")).map((order) => order.json())).toEqual([{ item: "apple" }]);
  bridge.inside.hub.channel("erp").sends.failNext(Infinity, new BridgeError("UNAVAILABLE", "closed"));
  await bridge.send("orders", { payload: { item: "fig" } });
  await bridge.advance(60_000); // three attempts take no time at all
  expect(await bridge.deadLetters()).toMatchObject([{ errorCode: "UNAVAILABLE", attempts: 3 }]);
});
