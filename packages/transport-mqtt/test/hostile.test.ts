import { describeHostileSource, type ServerPlace } from "@bridge/conformance";
import { hostileOverMqtt, writeOverMqtt } from "@bridge/tooling/hostile/mqtt";
import { mqttTransport } from "../src/mqtt-transport.ts";
import { hostileBroker } from "./support/hostile-broker.ts";
import { mosquitto } from "./support/mosquitto.ts";
import { program } from "./support/witness.ts";

describeHostileSource("mqtt", {
  plugin: mqttTransport,
  openServer: () => realBroker(),
  openStandIn: () => hostileBroker(),
});

async function realBroker(): Promise<ServerPlace> {
  const stack = new AsyncDisposableStack();
  const broker = stack.use(await mosquitto());
  const peer = await program(broker.port);
  stack.defer(() => peer.endAsync(true));
  const topic = "hostile/t";
  return {
    source: {
      session: { options: { broker_urls: [`mqtt://127.0.0.1:${broker.port}`], max_message_bytes: 65_536 } },
      receiver: { options: {}, topics: [{ topic, qos: 1 }] },
      subject: topic,
      publish: async ({ payload }) => void (await peer.publishAsync(topic, Buffer.from(payload), { qos: 1 })),
    },
    messages: hostileOverMqtt(topic),
    async write(messages) {
      for (const message of messages) await writeOverMqtt(broker.port, message);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
