import type { Delivery } from "@bridge/ports";
import { expect, test } from "vitest";
import { draw } from "../src/index.ts";
import { BrokerReceiver } from "../src/model/broker-receiver.ts";
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

test("a source that tells late what it takes back refuses a settlement before that, and hands out nothing that came over a lost connection", async () => {
  const { loanMs: _, ...drawn } = draw(1).broker;
  const habits = { ...drawn, latencyMs: 1, tellsAfterMs: 5_000 };
  const messages = [0, 1].map((number) => ({ number, at: 0 }));
  const { broker, time } = worldOf({ ...draw(1), messages, broker: habits }, false);
  const owner = { alive: true, pending: 0 };
  const session = new BrokerSession({ broker, owner, habits, window: 2, exclusive: false });
  const deliveries = new BrokerReceiver(session, "in").receive(new AbortController().signal)[Symbol.asyncIterator]();
  const connecting = session.connect(new AbortController().signal);
  await time.pass(time.now + 100);
  void (await connecting).reconcile(new AbortController().signal);
  await time.pass(time.now + 100);
  for (const number of [0, 1]) broker.publish(number);
  await time.pass(time.now + 100);
  const { value } = (await deliveries.next()) as IteratorYieldResult<Delivery>;
  expect(value.message.id).toBe("m-0");
  session.cut(0);
  await time.pass(time.now + 4_000);
  expect(value.signal?.aborted).toBe(false);
  expect(() => void value.settle({ kind: "release", delayMs: 0 })).toThrow("cut");
  let came = false;
  void deliveries.next().then(() => (came = true));
  await time.pass(time.now + 2_000);
  expect(value.signal?.aborted).toBe(true);
  expect(came).toBe(false);
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
