import { readFileSync, writeFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { noMqtt5, openBroker } from "./support/broker.ts";
import { Example, ownEnvironment } from "./support/example.ts";
import { EXAMPLES } from "./support/program.ts";
import { noRabbit, openRabbit } from "./support/rabbit.ts";

const names = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `m${from + i}`);

describe.skipIf(noRabbit || noMqtt5)("RabbitMQ and MQTT", () => {
  test("rabbitmq-to-mqtt.yaml: orders arrive with their ids, those sent while the bridge is down too", async () => {
    await using broker = await openBroker();
    const own = ownEnvironment({ BROKER_URL: broker.url });
    const queue = `${own.TOPICS}-orders`;
    await using rabbit = await openRabbit(queue);
    const env = { ...own, RABBIT_URL: rabbit.url };
    const client = await broker.client(5);
    const arrived = new Map<string, unknown>();
    client.on("message", (_topic, payload, { properties }) =>
      arrived.set(payload.toString(), { ...properties?.userProperties }),
    );
    await client.subscribeAsync(`${own.TOPICS}/orders`, { qos: 1 });
    const publish = async (payloads: readonly string[]): Promise<void> => {
      for (const payload of payloads) {
        const options = { persistent: true, messageId: `id-${payload}`, headers: { region: "north", count: 3 } };
        rabbit.channel.sendToQueue(queue, Buffer.from(payload), options);
      }
      await rabbit.channel.waitForConfirms();
    };

    {
      await using bridge = await Example.run("rabbitmq-to-mqtt.yaml", env);
      await publish(names(0, 20));
      await expect.poll(() => [...arrived.keys()].toSorted(), { timeout: 30_000 }).toEqual(names(0, 20).toSorted());
      expect(arrived.get("m3")).toEqual({ "message-id": "id-m3", region: "north", count: "3" });
      await bridge.end("SIGKILL");
    }
    await publish(names(20, 30));
    {
      await using bridge = await Example.run("rabbitmq-to-mqtt.yaml", env);
      await expect.poll(() => [...arrived.keys()].toSorted(), { timeout: 30_000 }).toEqual(names(0, 30).toSorted());
      expect(await bridge.end("SIGTERM")).toBe(0);
    }
    expect(await rabbit.takeAll(queue)).toEqual([]);
  });

  test("mqtt-to-rabbitmq.yaml: readings arrive, and what no queue takes is redriven when there is one", async () => {
    await using broker = await openBroker();
    const own = ownEnvironment({ BROKER_URL: broker.url });
    const queue = `${own.TOPICS}-readings`;
    await using rabbit = await openRabbit(queue);
    const client = await broker.client(5);
    const publish = (payloads: readonly string[]) =>
      Promise.all(
        payloads.map(async (payload) => client.publishAsync(`${own.TOPICS}/readings/${payload}`, payload, { qos: 1 })),
      );
    await using bridge = await Example.run("mqtt-to-rabbitmq.yaml", { ...own, RABBIT_URL: rabbit.url });

    await publish(["too-early"]);
    const letters = async () => (await bridge.admin("/dlq/messages")) as { readonly messages: readonly DeadLetter[] };
    await expect.poll(async () => (await letters()).messages.length, { timeout: 30_000 }).toBe(1);
    const { messages } = await letters();
    expect(messages[0]).toMatchObject({ error_code: "DESTINATION_NOT_FOUND", attempts: 1 });

    await rabbit.channel.assertQueue(queue, { durable: true });
    await publish(names(0, 20));
    expect(await bridge.admin("/dlq/redrive", { ids: [messages[0]?.id] })).toMatchObject({ redriven: 1, failed: 0 });
    await expect.poll(async () => (await rabbit.channel.checkQueue(queue)).messageCount, { timeout: 30_000 }).toBe(21);
    expect((await rabbit.takeAll(queue)).toSorted()).toEqual([...names(0, 20), "too-early"].toSorted());
    expect(await bridge.end("SIGTERM")).toBe(0);
    await broker.forget(`${own.TOPICS}-mqtt-to-rabbitmq`);
  });

  test("readings.yaml, which the README shows: a reading goes into the queue", async () => {
    await using broker = await openBroker();
    const own = ownEnvironment({});
    await using rabbit = await openRabbit(own.TOPICS);
    await rabbit.channel.assertQueue(own.TOPICS, { durable: true });
    await using folder = await mkdtempDisposable(join(tmpdir(), "bridge-readings-"));
    const file = join(folder.path, "readings.yaml");
    const places: readonly (readonly [string, string])[] = [
      ["mqtt://127.0.0.1", broker.url],
      ["client_id: readings", `client_id: ${own.TOPICS}`],
      ["plant/+/readings", `${own.TOPICS}/+/readings`],
      ["amqp://127.0.0.1", rabbit.url],
      ["address: readings", `address: ${own.TOPICS}`],
      ["127.0.0.1:8080", "127.0.0.1:0"],
      ["127.0.0.1:8081", "127.0.0.1:0"],
      ["data/dlq.db", join(folder.path, "dlq.db")],
    ];
    let text = readFileSync(`${EXAMPLES}readings.yaml`, "utf8");
    for (const [shown, here] of places) {
      expect(text).toContain(shown);
      text = text.replace(shown, here);
    }
    writeFileSync(file, text);
    await using bridge = await Example.run(file, own);
    const client = await broker.client(5);
    await client.publishAsync(`${own.TOPICS}/7/readings`, "21.5", { qos: 1 });
    await expect
      .poll(async () => (await rabbit.channel.checkQueue(own.TOPICS)).messageCount, { timeout: 30_000 })
      .toBe(1);
    expect(await rabbit.takeAll(own.TOPICS)).toEqual(["21.5"]);
    expect(await bridge.end("SIGTERM")).toBe(0);
    await broker.forget(own.TOPICS);
  });
});

interface DeadLetter {
  readonly id: string;
}
