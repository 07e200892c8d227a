/** Both examples with RabbitMQ while it is stopped and started under traffic: with a node of the test's own. @module */
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { type ConfirmChannel, connect } from "amqplib";
import { expect, test } from "vitest";
import { openBroker } from "../test/support/broker.ts";
import { Example, ownEnvironment } from "../test/support/example.ts";
import { OwnRabbit } from "./support/own-rabbit.ts";

/** Between two messages, so that the broker stops among them. */
const PAUSE_MS = 5;
const PATIENCE_MS = 120_000;

test("rabbitmq-to-mqtt.yaml and mqtt-to-rabbitmq.yaml lose nothing while RabbitMQ restarts", async () => {
  await using rabbit = await OwnRabbit.start();
  await using broker = await openBroker();
  const own = ownEnvironment({ BROKER_URL: broker.url });
  const queues = { orders: `${own.TOPICS}-orders`, readings: `${own.TOPICS}-readings` };
  const client = await broker.client(5);
  const arrived = new Set<string>();
  client.on("message", (_topic, payload) => arrived.add(payload.toString()));
  await client.subscribeAsync(`${own.TOPICS}/orders`, { qos: 1 });

  const readings: string[] = [];
  const publishReadings = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at++) {
      const reading = `r${readings.length}`;
      await client.publishAsync(`${own.TOPICS}/readings/one`, reading, { qos: 1 });
      readings.push(reading);
      await delay(PAUSE_MS);
    }
  };
  /** What RabbitMQ has confirmed; what was under way when it stopped is in doubt, and no loss. */
  const orders: string[] = [];
  let sent = 0;
  const publishOrder = async (channel: ConfirmChannel): Promise<void> => {
    const order = `o${sent++}`;
    channel.sendToQueue(queues.orders, Buffer.from(order), { persistent: true });
    await channel.waitForConfirms();
    orders.push(order);
    await delay(PAUSE_MS);
  };

  const env = { ...own, RABBIT_URL: rabbit.url };
  const before = await program(rabbit.url);
  await before.channel.assertQueue(queues.readings, { durable: true });
  await using toMqtt = await Example.run("rabbitmq-to-mqtt.yaml", env);
  await using toRabbit = await Example.run("mqtt-to-rabbitmq.yaml", env);
  for (let at = 0; at < 200; at++) await publishOrder(before.channel);
  await publishReadings(200);

  const gone = once(before.channel, "close").then(() => true);
  const publishOrdersUntilItIsGone = async (): Promise<void> => {
    for (let over = false; !over;) {
      const failed = publishOrder(before.channel).then(
        () => false,
        () => true,
      );
      over = await Promise.race([gone, failed]);
    }
  };
  await Promise.all([rabbit.stop(), publishReadings(100), publishOrdersUntilItIsGone()]);
  for (const bridge of [toMqtt, toRabbit]) {
    await expect.poll(() => bridge.logged("session not connected"), { timeout: PATIENCE_MS }).toBeDefined();
  }
  await publishReadings(100);
  await rabbit.start();

  await using after = await program(rabbit.url);
  for (let at = 0; at < 100; at++) await publishOrder(after.channel);
  await publishReadings(100);
  await expect.poll(() => orders.filter((order) => !arrived.has(order)), { timeout: PATIENCE_MS }).toEqual([]);
  const kept = new Set<string>();
  const missing = async (): Promise<readonly string[]> => {
    for (let message = await after.channel.get(queues.readings); message;) {
      kept.add(message.content.toString());
      after.channel.ack(message);
      message = await after.channel.get(queues.readings);
    }
    return readings.filter((reading) => !kept.has(reading));
  };
  await expect.poll(missing, { timeout: PATIENCE_MS }).toEqual([]);
  for (const bridge of [toMqtt, toRabbit]) {
    expect(await bridge.admin("/dlq")).toMatchObject({ count: 0 });
    expect(await bridge.end("SIGTERM")).toBe(0);
  }
  expect(await after.channel.checkQueue(queues.orders)).toMatchObject({ messageCount: 0 });
  await broker.forget(`${own.TOPICS}-mqtt-to-rabbitmq`);
});

/** Another program at RabbitMQ. */
async function program(url: string): Promise<AsyncDisposable & { readonly channel: ConfirmChannel }> {
  const connection = await connect(url);
  connection.on("error", () => {});
  const channel = await connection.createConfirmChannel();
  channel.on("error", () => {});
  return { channel, [Symbol.asyncDispose]: async () => connection.close() };
}
