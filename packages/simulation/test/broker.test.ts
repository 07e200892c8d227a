import type { Delivery } from "@bridge/ports";
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

test("whoever resumes a session is handed all that was left at once, and new messages as the window has room", async () => {
  const { loanMs: _, ...drawn } = draw(1).broker;
  const habits = { ...drawn, latencyMs: 1, confirms: false, resumes: true };
  const messages = [0, 1, 2, 3].map((number) => ({ number, at: 0 }));
  const { broker, time } = worldOf({ ...draw(1), messages, broker: habits }, false);
  const client = (window: number) => {
    const session = new BrokerSession({ broker, owner: { alive: true, pending: 0 }, habits, window, exclusive: false });
    const came: (string | undefined)[] = [];
    session.subscriptions.add("in");
    session.taker = ({ message }: Delivery) => came.push(message.id);
    const connect = async (): Promise<void> => {
      const connecting = session.connect(new AbortController().signal);
      await time.pass(time.now + 100);
      const connection = await connecting;
      void connection.reconcile(new AbortController().signal);
      await time.pass(time.now + 100);
    };
    return { session, came, connect };
  };
  const before = client(3);
  await before.connect();
  for (const number of [0, 1, 2]) broker.publish(number);
  await time.pass(time.now + 100);
  before.session.cut(0);
  const after = client(1);
  await after.connect();
  broker.publish(3);
  await time.pass(time.now + 100);
  expect(before.came).toEqual(["m-0", "m-1", "m-2"]);
  expect(after.came).toEqual(["m-0", "m-1", "m-2"]);
});
