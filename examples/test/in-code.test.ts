import { defineBridge } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { amqp } from "@bridge/transport-amqp";
import { http } from "@bridge/transport-http";
import { mqtt } from "@bridge/transport-mqtt";
import { nats } from "@bridge/transport-nats";
import { freePort } from "@bridge/tooling/listening";
import { describe, expect, test } from "vitest";
import { noMqtt5, openBroker } from "./support/broker.ts";
import { ownEnvironment } from "./support/example.ts";
import { noNats, openNats } from "./support/nats.ts";
import { noRabbit, openRabbit } from "./support/rabbit.ts";

const WAIT = { timeout: 30_000 };

describe.skipIf(noRabbit || noNats || noMqtt5)("a bridge in code between all brokers", () => {
  test("carries a message from HTTP over RabbitMQ, MQTT and NATS to two targets", async () => {
    await using broker = await openBroker();
    const name = ownEnvironment({}).TOPICS;
    const [orders, copies] = [`${name}-orders`, `${name}-copies`];
    await using rabbit = await openRabbit(orders, copies);
    for (const queue of [orders, copies])
      await rabbit.channel.assertQueue(queue, { arguments: { "x-queue-type": "quorum" } });
    await using server = await openNats(name);
    await server.manager.streams.add({ name, subjects: [`${name}.>`] });
    const port = await freePort();

    const queues = amqp({ url: rabbit.url.replace("amqp://", "amqp://guest:guest@") });
    const topics = mqtt({ broker_urls: [broker.url], session_mode: "ephemeral" });
    const streams = nats({ servers: [server.url] });
    const chain = defineBridge({
      id: name,
      stores: { dlq: memoryDlq({ acknowledge_volatile: true }) },
      routes: {
        http: { from: http.listen({ addr: `127.0.0.1:${port}`, path: "/orders" }), to: queues.at(orders) },
        amqp: { from: queues.queue(orders, { prefetch: 10 }), to: topics.at(`${name}/orders/{region}`) },
        mqtt: {
          from: topics.topic(`${name}/orders/+`, { qos: 1 }),
          to: { stream: streams.at(`${name}.{region}`), copy: queues.exchange("").at(copies) },
        },
      },
    });
    await using bridge = await chain.start({ signal: AbortSignal.timeout(30_000) });
    await expect.poll(() => bridge.view().level, WAIT).toBe("full");

    const answer = await fetch(`http://127.0.0.1:${port}/orders`, {
      method: "POST",
      headers: { region: "north" },
      body: "a",
    });
    expect(answer.status).toBe(202);
    await expect.poll(async () => server.texts(name), WAIT).toEqual(["a"]);
    await expect.poll(async () => (await rabbit.channel.checkQueue(copies)).messageCount, WAIT).toBe(1);
    expect(await rabbit.takeAll(copies)).toEqual(["a"]);
    expect(JSON.stringify(chain.document())).not.toContain("guest");
  });
});
