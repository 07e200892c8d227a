import {
  type Channel,
  type ConfirmChannel,
  connect,
  type ConsumeMessage,
  type GetMessage,
  type Options,
} from "amqplib";
import { PORT } from "./broker.ts";

export type QueueType = "quorum" | "classic";

/** Another program at the broker, with queues and exchanges that are deleted with it. */
export interface Program extends AsyncDisposable {
  readonly channel: ConfirmChannel;
  /** A queue that no other test uses. Made unless `type` is `none`, deleted in any case. */
  queue(type?: QueueType | "none", options?: Options.AssertQueue): Promise<string>;
  exchange(type: string): Promise<string>;
  /** Resolves when the broker has confirmed it. */
  publish(
    queue: string,
    content: string | Buffer,
    options?: Options.Publish & { readonly exchange?: string },
  ): Promise<void>;
  /** All messages of a queue since now, acknowledged, once there are `count` or more. */
  collect(queue: string): Promise<(count: number) => Promise<readonly ConsumeMessage[]>>;
  /** Takes one message off a queue, now. */
  get(queue: string): Promise<GetMessage | false>;
  /** What waits in a queue, by the broker's word. */
  ready(queue: string): Promise<number>;
  /** A channel of its own, for what may cost it. */
  another(): Promise<Channel>;
}

export async function program(port: number = PORT): Promise<Program> {
  const connection = await connect({ hostname: "127.0.0.1", port });
  connection.on("error", () => {});
  const channel = await connection.createConfirmChannel();
  const queues = new Set<string>();
  const exchanges = new Set<string>();
  return {
    channel,
    async queue(type = "classic", options = {}) {
      const name = `bridge-test-${crypto.randomUUID()}`;
      queues.add(name);
      if (type !== "none") {
        const { arguments: more } = options as { readonly arguments?: object };
        await channel.assertQueue(name, { ...options, durable: true, arguments: { ...more, "x-queue-type": type } });
      }
      return name;
    },
    async exchange(type) {
      const name = `bridge-test-${crypto.randomUUID()}`;
      exchanges.add(name);
      await channel.assertExchange(name, type, { durable: true });
      return name;
    },
    publish: (queue, content, { exchange = "", ...options } = {}) =>
      new Promise((resolve, reject) => {
        channel.publish(exchange, queue, Buffer.from(content), { persistent: true, ...options }, (error: unknown) => {
          if (error === null) resolve();
          else reject(error);
        });
      }),
    async collect(queue) {
      const messages: ConsumeMessage[] = [];
      const waiting = new Set<() => void>();
      await channel.consume(queue, (message) => {
        if (message === null) return;
        channel.ack(message);
        messages.push(message);
        for (const look of waiting) look();
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
    get: (queue) => channel.get(queue, { noAck: true }),
    ready: async (queue) => (await channel.checkQueue(queue)).messageCount,
    async another() {
      const own = await connection.createChannel();
      own.on("error", () => {});
      return own;
    },
    async [Symbol.asyncDispose]() {
      for (const queue of queues) await channel.deleteQueue(queue);
      for (const exchange of exchanges) await channel.deleteExchange(exchange);
      await connection.close();
    },
  };
}
