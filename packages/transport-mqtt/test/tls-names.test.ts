import { LONG } from "@bridge/tooling/long";
import { TLS_SECRET, tlsNames } from "@bridge/tooling/tls-names";
import { afterEach, describe } from "vitest";
import { noMosquitto } from "./support/brokers.ts";
import { mosquitto } from "./support/mosquitto.ts";
import { session } from "./support/parts.ts";

const never = new AbortController().signal;
let running: AsyncDisposable | undefined;
afterEach(() => running?.[Symbol.asyncDispose]());

describe.skipIf(noMosquitto)("needs Mosquitto", () => {
  tlsNames("a session of MQTT", {
    // A server is started for each row.
    all: LONG,
    present: async ({ cert, key }) => {
      const broker = await mosquitto({
        files: { "broker.crt": cert, "broker.key": key },
        listener: ["certfile DIR/broker.crt", "keyfile DIR/broker.key"],
      });
      running = broker;
      return broker.port;
    },
    connect: async ({ host, port, caFile }) => {
      const urls = { broker_urls: [`mqtts://${host}:${port}`], username: "bridge", password: TLS_SECRET };
      await using source = session({ port, options: { ...urls, tls: { ca_file: caFile } } });
      await source.connect(never);
    },
  });
});
