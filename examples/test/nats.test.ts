import { execFile } from "node:child_process";
import process from "node:process";
import { promisify } from "node:util";
import { headers as newHeaders } from "@nats-io/transport-node";
import { describe, expect, test } from "vitest";
import { noMqtt5, openBroker } from "./support/broker.ts";
import { Example, ownEnvironment } from "./support/example.ts";
import { EXAMPLES } from "./support/program.ts";
import { noNats, openNats } from "./support/nats.ts";

const names = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `m${from + i}`);

describe.skipIf(noNats || noMqtt5)("NATS and MQTT", () => {
  test("nats-to-mqtt.yaml: orders arrive with their ids, those sent while the bridge is down too", async () => {
    await using broker = await openBroker();
    const own = ownEnvironment({ BROKER_URL: broker.url });
    const stream = `${own.TOPICS}-orders`;
    await using nats = await openNats(stream);
    await nats.manager.streams.add({ name: stream, subjects: [`${own.TOPICS}.orders`] });
    const env = { ...own, NATS_URL: nats.url };
    const client = await broker.client(5);
    const arrived = new Map<string, unknown>();
    client.on("message", (_topic, payload, { properties }) =>
      arrived.set(payload.toString(), { ...properties?.userProperties }),
    );
    await client.subscribeAsync(`${own.TOPICS}/orders`, { qos: 1 });
    const publish = async (payloads: readonly string[]): Promise<void> => {
      for (const payload of payloads) {
        const headers = newHeaders();
        headers.set("Message-Id", `id-${payload}`);
        headers.set("Region", "north");
        await nats.client.publish(`${own.TOPICS}.orders`, payload, { headers });
      }
    };
    const consumer = () => nats.manager.consumers.info(stream, "bridge");
    const allSettled = async () => {
      await expect.poll(consumer, { timeout: 60_000 }).toMatchObject({ num_ack_pending: 0, num_pending: 0 });
    };

    {
      await using bridge = await Example.run("nats-to-mqtt.yaml", env);
      await publish(names(0, 20));
      await expect.poll(() => [...arrived.keys()].toSorted(), { timeout: 30_000 }).toEqual(names(0, 20).toSorted());
      expect(arrived.get("m3")).toMatchObject({ "message-id": "id-m3", region: "north", "nats.stream": stream });
      // What was not settled would come again, when its time is over.
      await allSettled();
      await bridge.end("SIGKILL");
    }
    await publish(names(20, 30));
    {
      await using bridge = await Example.run("nats-to-mqtt.yaml", env);
      await expect.poll(() => [...arrived.keys()].toSorted(), { timeout: 30_000 }).toEqual(names(0, 30).toSorted());
      await allSettled();
      expect(await bridge.end("SIGTERM")).toBe(0);
    }
  });

  test("mqtt-to-nats.yaml: readings arrive, and what no stream takes is redriven when there is one", async () => {
    await using broker = await openBroker();
    const own = ownEnvironment({ BROKER_URL: broker.url });
    const stream = `${own.TOPICS}-readings`;
    await using nats = await openNats(stream);
    const env = { ...own, NATS_URL: nats.url };
    const client = await broker.client(5);
    const publish = (payloads: readonly string[]) =>
      Promise.all(
        payloads.map(async (payload) => client.publishAsync(`${own.TOPICS}/readings/${payload}`, payload, { qos: 1 })),
      );
    await using bridge = await Example.run("mqtt-to-nats.yaml", env);

    await publish(["too-early"]);
    const letters = async () => (await bridge.admin("/dlq/messages")) as { readonly messages: readonly DeadLetter[] };
    await expect.poll(async () => (await letters()).messages.length, { timeout: 30_000 }).toBe(1);
    const { messages } = await letters();
    expect(messages[0]).toMatchObject({ error_code: "DESTINATION_NOT_FOUND", attempts: 1 });

    const run = async (...args: readonly string[]) =>
      (
        await promisify(execFile)(process.execPath, [`${EXAMPLES}nats-stream.ts`, ...args], {
          env: { NATS_URL: nats.url },
        })
      ).stdout;
    await run("make", stream, `${own.TOPICS}.readings`);
    await publish(names(0, 20));
    expect(await bridge.admin("/dlq/redrive", { ids: [messages[0]?.id] })).toMatchObject({ redriven: 1, failed: 0 });
    const all = [...names(0, 20), "too-early"].toSorted();
    await expect.poll(async () => (await nats.texts(stream)).toSorted(), { timeout: 30_000 }).toEqual(all);
    expect(await bridge.end("SIGTERM")).toBe(0);
    expect(await run("publish", `${own.TOPICS}.readings`, "by hand")).toBe(`${stream} has it, as its message 22\n`);
    expect((await run("show", stream)).trimEnd().split("\n").at(-1)).toBe(`${own.TOPICS}.readings by hand`);
    await broker.forget(`${own.TOPICS}-mqtt-to-nats`);
  });
});

interface DeadLetter {
  readonly id: string;
}
