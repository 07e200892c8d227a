import { expect, test } from "vitest";
import { draw } from "../src/index.ts";
import { BrokerSession } from "../src/model/broker-session.ts";
import { worldOf } from "../src/run/world.ts";

test("a connection that the broker has dropped is not subscribed by what was on its way", async () => {
  const plan = draw(1);
  const { broker, time } = worldOf(plan, false);
  const session = new BrokerSession({
    broker,
    owner: { alive: true, pending: 0 },
    habits: plan.broker,
    window: 1,
    exclusive: false,
  });
  session.subscriptions.add("in");
  const connecting = session.connect(new AbortController().signal);
  await time.pass(10_000);
  const connection = await connecting;
  const subscribing = connection.reconcile(new AbortController().signal);
  subscribing.catch(() => {});
  session.cut(20_000);
  await time.pass(40_000);
  await expect(subscribing).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  expect(broker.connections).toBe(0);
});
