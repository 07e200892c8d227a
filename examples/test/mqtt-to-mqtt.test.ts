import { describe, expect, test } from "vitest";
import { openBroker } from "./support/broker.ts";
import { Example, ownEnvironment } from "./support/example.ts";

describe("mqtt-to-mqtt.yaml", () => {
  test("messages arrive below the other topic, those published while the bridge is down too", async () => {
    await using broker = await openBroker();
    const env = ownEnvironment({ BROKER_URL: broker.url });
    const topics = env.TOPICS;
    const client = await broker.client();
    const arrived = new Map<string, string>();
    client.on("message", (topic, payload) => arrived.set(payload.toString(), topic));
    await client.subscribeAsync(`${topics}/out/#`, { qos: 1 });
    const publish = (from: number, to: number) =>
      Promise.all(
        Array.from({ length: to - from }, (_, i) =>
          client.publishAsync(`${topics}/in/room/${i}`, `m${from + i}`, { qos: 1 }),
        ),
      );
    const all = (count: number) => Array.from({ length: count }, (_, i) => `m${i}`);

    {
      await using bridge = await Example.run("mqtt-to-mqtt.yaml", env);
      await publish(0, 20);
      await expect.poll(() => [...arrived.keys()].toSorted(), { timeout: 30_000 }).toEqual(all(20).toSorted());
      expect(arrived.get("m3")).toBe(`${topics}/out/${topics}/in/room/3`);
      await bridge.end("SIGKILL");
    }
    await publish(20, 30);
    {
      await using bridge = await Example.run("mqtt-to-mqtt.yaml", env);
      await expect.poll(() => [...arrived.keys()].toSorted(), { timeout: 30_000 }).toEqual(all(30).toSorted());
      expect(await bridge.end("SIGTERM")).toBe(0);
    }
    await broker.forget(`${topics}-mqtt-to-mqtt`);
  });
});
