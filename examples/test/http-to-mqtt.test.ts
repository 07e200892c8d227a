import { describe, expect, test } from "vitest";
import { openBroker } from "./support/broker.ts";
import { Example, ownEnvironment } from "./support/example.ts";

describe("http-to-mqtt.yaml", () => {
  test("202 is answered when the broker has the message, under the topic that the path names", async () => {
    await using broker = await openBroker();
    const env = ownEnvironment({ BROKER_URL: broker.url });
    const topics = env.TOPICS;
    const client = await broker.client();
    const arrived: string[] = [];
    client.on("message", (topic, payload) => arrived.push(`${topic} ${payload.toString()}`));
    await client.subscribeAsync(`${topics}/#`, { qos: 1 });

    await using bridge = await Example.run("http-to-mqtt.yaml", env);
    const { port } = bridge.logged("HTTP receiver listens") ?? {};
    const answer = await fetch(`http://127.0.0.1:${port}/ingest/kitchen/temperature`, {
      method: "POST",
      headers: { "Idempotency-Key": "reading-1" },
      body: "21.5",
    });
    expect(answer.status).toBe(202);
    expect(await answer.json()).toEqual({ status: "accepted", envelope_id: "reading-1", outcome: "delivered" });
    await expect.poll(() => arrived, { timeout: 30_000 }).toEqual([`${topics}/kitchen/temperature 21.5`]);
    expect(await bridge.end("SIGTERM")).toBe(0);
  });
});
