import { connect as connectSocket } from "node:net";
import { once } from "node:events";
import { env } from "node:process";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect as connectNats } from "@nats-io/transport-node";
import type { TransportPlugin } from "@bridge/ports";
import { freePort } from "@bridge/tooling/listening";
import { startStrictSqs } from "@bridge/tooling/strict-sqs";
import { amqp } from "@bridge/transport-amqp";
import { http } from "@bridge/transport-http";
import { memoryHub, memory } from "@bridge/transport-memory";
import { mqtt } from "@bridge/transport-mqtt";
import { nats } from "@bridge/transport-nats";
import { sqs } from "@bridge/transport-sqs";
import { connect as connectAmqp } from "amqplib";

/** A way from one route of a bridge to another, over a transport. */
export interface Hop extends AsyncDisposable {
  readonly plugin: TransportPlugin;
  /** Of the configuration. */
  readonly session?: object;
  readonly receiver: object;
  readonly sender?: object;
  readonly address: string;
}

export interface HopKind {
  readonly transport: string;
  /** What OpenTelemetry calls it. */
  readonly system: string;
  /** Where a broker has to stand ready. */
  readonly port?: number;
  open(): Promise<Hop>;
}

const NOTHING = async (): Promise<void> => {};

export const HOPS: readonly HopKind[] = [
  {
    transport: "memory",
    system: "memory",
    open: async () => ({
      plugin: memory(memoryHub()).plugin(),
      receiver: { options: { channel: "between" } },
      address: "between",
      [Symbol.asyncDispose]: NOTHING,
    }),
  },
  {
    transport: "http",
    system: "http",
    open: async () => {
      const port = await freePort();
      return {
        plugin: http.plugin(),
        receiver: { options: { addr: `127.0.0.1:${port}` } },
        sender: { options: { url: `http://127.0.0.1:${port}` } },
        address: "/ingest/second",
        [Symbol.asyncDispose]: NOTHING,
      };
    },
  },
  {
    transport: "mqtt",
    system: "mqtt",
    port: 1883,
    open: async () => {
      const topic = `trace/${crypto.randomUUID()}`;
      return {
        plugin: mqtt.plugin(),
        session: { session_mode: "ephemeral", options: { broker_urls: ["mqtt://127.0.0.1:1883"] } },
        receiver: { topics: [{ topic }] },
        address: topic,
        [Symbol.asyncDispose]: NOTHING,
      };
    },
  },
  {
    transport: "amqp",
    system: "rabbitmq",
    port: 5672,
    open: async () => {
      const queue = `trace-${crypto.randomUUID()}`;
      return {
        plugin: amqp.plugin(),
        session: { options: { url: "amqp://127.0.0.1:5672" } },
        receiver: { options: { queue, queue_type: "classic", declare: true } },
        address: queue,
        [Symbol.asyncDispose]: async () => {
          const connection = await connectAmqp("amqp://127.0.0.1:5672");
          await (await connection.createChannel()).deleteQueue(queue);
          await connection.close();
        },
      };
    },
  },
  {
    transport: "nats",
    system: "nats",
    port: 4222,
    open: async () => {
      const connection = await connectNats({ servers: "127.0.0.1:4222", reconnect: false });
      const manager = await jetstreamManager(connection);
      const stream = `trace-${crypto.randomUUID()}`;
      await manager.streams.add({ name: stream, subjects: [`${stream}.>`] });
      return {
        plugin: nats.plugin(),
        session: { options: { servers: ["nats://127.0.0.1:4222"] } },
        receiver: { options: { stream } },
        address: `${stream}.a`,
        [Symbol.asyncDispose]: async () => {
          await manager.streams.delete(stream);
          await connection.close();
        },
      };
    },
  },
  {
    transport: "sqs",
    system: "aws_sqs",
    open: async () => {
      const service = await startStrictSqs();
      const url = service.createQueue("between");
      const client = { region: "us-east-1", credentials: { accessKeyId: "test", secretAccessKey: "test" } };
      return {
        plugin: sqs({ client }).plugin(),
        receiver: { options: { queue_url: url, wait_time: "1s" } },
        address: url,
        [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
      };
    },
  },
];

/** For `test.skipIf`: whether the broker that it needs is not there, and need not be. */
export async function isMissing({ port }: HopKind): Promise<boolean> {
  if (port === undefined || env["BRIDGE_REQUIRE_BROKERS"] === "1") return false;
  const socket = connectSocket({ port, host: "127.0.0.1" });
  try {
    await once(socket, "connect");
    return false;
  } catch {
    return true;
  } finally {
    socket.destroy();
  }
}
