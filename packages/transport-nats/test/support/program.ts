import {
  type ConsumerConfig,
  type JetStreamClient,
  jetstream,
  type JetStreamManager,
  jetstreamManager,
  type StreamConfig,
} from "@nats-io/jetstream";
import { type ConnectionOptions, connect, headers, type Msg, type NatsConnection } from "@nats-io/transport-node";
import { PORT } from "./server.ts";

/** Another program at the server, with streams that are deleted with it. */
export interface Program extends AsyncDisposable {
  readonly connection: NatsConnection;
  readonly manager: JetStreamManager;
  readonly client: JetStreamClient;
  /** A stream that no other test uses; it takes all subjects that begin with its name and a dot. */
  stream(config?: Partial<StreamConfig>): Promise<string>;
  /** A durable consumer, `c`. */
  consumer(stream: string, config?: Partial<ConsumerConfig>): Promise<string>;
  /** Resolves when the stream has it. */
  publish(subject: string, payload: string | Uint8Array, fields?: Readonly<Record<string, string>>): Promise<void>;
  /** All messages of a subject since now, once there are `count` or more. */
  collect(subject: string): (count: number) => Promise<readonly Msg[]>;
}

export async function program(port: number = PORT, who: Partial<ConnectionOptions> = {}): Promise<Program> {
  const connection = await connect({ servers: `127.0.0.1:${port}`, noAsyncTraces: true, reconnect: false, ...who });
  const manager = await jetstreamManager(connection);
  const client = jetstream(connection);
  const streams = new Set<string>();
  return {
    connection,
    manager,
    client,
    async stream(config = {}) {
      const name = config.name ?? `bridge-test-${crypto.randomUUID()}`;
      streams.add(name);
      await manager.streams.add({ subjects: [`${name}.>`], ...config, name });
      return name;
    },
    async consumer(stream, config = {}) {
      await manager.consumers.add(stream, { durable_name: "c", ack_policy: "explicit", ...config });
      return "c";
    },
    async publish(subject, payload, fields = {}) {
      const carried = headers();
      for (const [name, value] of Object.entries(fields)) carried.set(name, value);
      await client.publish(subject, payload, { headers: carried });
    },
    collect(subject) {
      const messages: Msg[] = [];
      const waiting = new Set<() => void>();
      connection.subscribe(subject, {
        callback: (_, message) => {
          messages.push(message);
          for (const look of waiting) look();
        },
      });
      return (count) =>
        new Promise((resolve) => {
          const look = (): void => {
            if (messages.length < count) return;
            waiting.delete(look);
            resolve([...messages]);
          };
          waiting.add(look);
          look();
        });
    },
    async [Symbol.asyncDispose]() {
      if (connection.isClosed()) return;
      for (const stream of streams) await manager.streams.delete(stream).catch(() => {});
      await connection.close();
    },
  };
}
