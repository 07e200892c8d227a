import { once } from "node:events";
import { createServer } from "node:net";
import { Aedes } from "aedes";
import mqtt from "mqtt";
import { isListening } from "./ports.ts";

export interface Broker extends AsyncDisposable {
  readonly url: string;
  /** Whether it runs in this process; otherwise it was there before. */
  readonly embedded: boolean;
}

/** The MQTT broker that listens on the port, else one of our own. `clientId` is the bridge's. */
export async function findBroker(port: number, clientId: string): Promise<Broker> {
  const url = `mqtt://127.0.0.1:${port}`;
  if (await isListening(port))
    return { url, embedded: false, [Symbol.asyncDispose]: () => forgetSession(url, clientId) };
  const aedes = await Aedes.createBroker();
  const server = createServer(aedes.handle).listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url,
    embedded: true,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      await new Promise<void>((resolve) => aedes.close(() => resolve()));
      await closed;
    },
  };
}

/** A broker that stays would keep messages for a bridge that does not come back. */
async function forgetSession(url: string, clientId: string): Promise<void> {
  const options = { clientId, clean: true, protocolVersion: 4, connectTimeout: 5_000 } as const;
  const client = await mqtt.connectAsync(url, options, false).catch(() => undefined);
  await client?.endAsync();
}
