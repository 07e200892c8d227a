import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { env } from "node:process";
import { Aedes } from "aedes";
import mqtt, { type MqttClient } from "mqtt";
import { listens } from "./listens.ts";

const REAL = { host: "127.0.0.1", port: 1883 };
const required = env["BRIDGE_REQUIRE_BROKERS"] === "1";
/** For `describe.skipIf`: whether there is only the broker inside this process, which speaks MQTT 3.1.1. */
export const noMqtt5 = !required && !(await listens(REAL));

/** A broker for one test file, and clients of it. */
export interface Broker extends AsyncDisposable {
  readonly url: string;
  /** A client that is there to publish and subscribe. */
  client(protocolVersion?: 4 | 5): Promise<MqttClient>;
  /** Makes a broker that stays forget the session of a bridge that does not come back. */
  forget(clientId: string): Promise<void>;
}

/**
 * The broker that listens on 127.0.0.1:1883, else one inside this process.
 * @throws Error when there is none and BRIDGE_REQUIRE_BROKERS says that there has to be one
 */
export async function openBroker(): Promise<Broker> {
  if (await listens(REAL)) return brokerAt(`mqtt://${REAL.host}:${REAL.port}`, async () => {});
  if (required) {
    throw new Error(`no MQTT broker listens on ${REAL.host}:${REAL.port}, and BRIDGE_REQUIRE_BROKERS=1 asks for one`);
  }
  const aedes = await Aedes.createBroker();
  const server = createServer(aedes.handle).listen(0, "127.0.0.1");
  await once(server, "listening");
  return brokerAt(`mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`, async () => {
    const closed = once(server, "close");
    server.close();
    await new Promise<void>((resolve) => aedes.close(() => resolve()));
    await closed;
  });
}

function brokerAt(url: string, close: () => Promise<void>): Broker {
  const clients = new Set<MqttClient>();
  return {
    url,
    async client(protocolVersion = 4) {
      const client = await mqtt.connectAsync(url, { protocolVersion });
      clients.add(client);
      return client;
    },
    async forget(clientId) {
      await (await mqtt.connectAsync(url, { protocolVersion: 4, clientId, clean: true })).endAsync();
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...clients].map((client) => client.endAsync()));
      await close();
    },
  };
}
