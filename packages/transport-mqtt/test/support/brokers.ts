/**
 * The one place that decides which brokers the tests use. Mosquitto when it is installed; where it is not, what needs
 * it is skipped and counted, unless BRIDGE_REQUIRE_BROKERS=1 makes its absence a failure. @module
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { env } from "node:process";
import { Aedes } from "aedes";
import { accepts } from "./accepts.ts";
import { mosquitto } from "./mosquitto.ts";

export interface Broker extends AsyncDisposable {
  readonly port: number;
}

const STANDING_PORT = 1883;
const required = env["BRIDGE_REQUIRE_BROKERS"] === "1";
const installed = spawnSync("mosquitto", ["-h"]).error === undefined;
const standing = await accepts(STANDING_PORT);

/** For `describe.skipIf`: whether tests that start a Mosquitto of their own cannot run. */
export const noMosquitto = !required && !installed;
/** For `describe.skipIf`: whether there is no broker that speaks MQTT 5. */
export const noMqtt5 = noMosquitto && !standing;

/** A broker that speaks both versions: the one that stands ready on loopback, else one of our own. */
export async function anyMosquitto(): Promise<Broker> {
  if (standing) return { port: STANDING_PORT, [Symbol.asyncDispose]: async () => {} };
  return mosquitto();
}

/** A broker inside the process, which speaks MQTT 3.1.1. */
export async function aedes(): Promise<Broker> {
  const broker = await Aedes.createBroker();
  const server = createServer(broker.handle);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => broker.close(() => resolve()));
      server.close();
    },
  };
}
