import {
  type Excuses,
  describeTransport,
  tcpProxy,
  type TransportCaseName,
  type TransportPlace,
} from "@bridge/conformance";
import { afterAll, describe } from "vitest";
import { mqttTransport } from "../src/mqtt-transport.ts";
import { aedes, anyMosquitto, type Broker, noMosquitto, noMqtt5 } from "./support/brokers.ts";
import { afterWrites } from "./support/link.ts";
import { mosquitto } from "./support/mosquitto.ts";
import { messageOf, witness } from "./support/witness.ts";

const NO_COUNT = "MQTT does not count how often it has handed a message out";
const NO_RELEASE = "MQTT takes no message back";
const NO_PROPERTIES = "MQTT 3.1.1 carries nothing but topic and payload";

const KEPT_FOR_MEMBER = "Mosquitto keeps for a member of the group, which may come back, what it has handed to it";
const EACH_ITS_OWN = "each instance has a subscription of its own, and gets all";

const always: Excuses<TransportCaseName> = {
  "source: receive counts grow": NO_COUNT,
  "source: a delivery that is released comes back": NO_RELEASE,
  "source: a released delivery does not come back before its delay": NO_RELEASE,
};

const subscribed: Excuses<TransportCaseName> = {
  ...always,
  "source: what one instance leaves unsettled reaches another": EACH_ITS_OWN,
};

const CARRIED_BY_PROPERTIES = [
  "carries header names with dots",
  "carries header values in Unicode",
  "carries a trace context",
  "carries an empty header value",
  "carries many headers",
  "carries the id",
  "carries the content type",
  "carries the correlation id",
  "carries the deduplication id",
  "carries the ordering key",
  "carries the expiry",
] as const;

const withoutProperties: Excuses<TransportCaseName> = {
  ...subscribed,
  ...Object.fromEntries(
    CARRIED_BY_PROPERTIES.flatMap((name) => [
      [`source: ${name}`, NO_PROPERTIES],
      [`target: ${name}`, NO_PROPERTIES],
    ]),
  ),
  "target: reserved headers stay behind, but for the causation id": NO_PROPERTIES,
};

/** A broker that all cases of a suite share, started by the first of them. */
function shared(start: () => Promise<Broker>): () => Promise<Broker> {
  let started: Promise<Broker> | undefined;
  afterAll(async () => (await started)?.[Symbol.asyncDispose]());
  return () => (started ??= start());
}

async function place(broker: Broker, version: 4 | 5, group?: string): Promise<TransportPlace> {
  const topic = `conformance/${crypto.randomUUID()}`;
  const filter = group === undefined ? topic : `$share/${group}/${topic}`;
  const stack = new AsyncDisposableStack();
  const source = stack.use(await tcpProxy({ target: broker }));
  const target = stack.use(await tcpProxy({ target: broker }));
  const seen = stack.use(await witness({ port: broker.port, filter: topic, version }));
  const session = (port: number) => ({
    options: {
      broker_urls: [`mqtt://127.0.0.1:${port}`],
      protocol_version: version,
      connect_timeout: "5s",
    },
  });
  return {
    source: {
      session: session(source.port),
      receiver: { options: {}, topics: [{ topic: filter, qos: 1 }] },
      subject: topic,
      link: afterWrites(source),
    },
    target: {
      session: session(target.port),
      sender: { options: {} },
      address: topic,
      subject: topic,
      collect: async (count) => (await seen.until(count)).map(messageOf),
      link: afterWrites(target),
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

describe.skipIf(noMqtt5)("on Mosquitto", () => {
  const broker = shared(anyMosquitto);
  describeTransport("mqtt 5", {
    plugin: mqttTransport,
    except: subscribed,
    open: async () => place(await broker(), 5),
  });
  describeTransport("mqtt 5, a shared subscription", {
    plugin: mqttTransport,
    except: { ...always, "source: what one instance leaves unsettled reaches another": KEPT_FOR_MEMBER },
    open: async () => place(await broker(), 5, "group"),
  });
});

describe.skipIf(noMosquitto)("on Mosquitto", () => {
  // With this version it holds a client to 20 messages by default.
  const broker = shared(() => mosquitto({ config: ["max_inflight_messages 100"] }));
  describeTransport("mqtt 3.1.1", {
    plugin: mqttTransport,
    except: withoutProperties,
    open: async () => place(await broker(), 4),
  });
});

describe("on aedes", () => {
  const broker = shared(aedes);
  describeTransport("mqtt 3.1.1", {
    plugin: mqttTransport,
    except: withoutProperties,
    open: async () => place(await broker(), 4),
  });
});
