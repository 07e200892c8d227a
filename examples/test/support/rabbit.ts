import { env } from "node:process";
import { type ConfirmChannel, connect } from "amqplib";
import { listens } from "./listens.ts";

const REAL = { host: "127.0.0.1", port: 5672 };

/** For `describe.skipIf`: whether there is no RabbitMQ, and there need not be one. */
export const noRabbit = env["BRIDGE_REQUIRE_BROKERS"] !== "1" && !(await listens(REAL));

/** Another program at RabbitMQ. */
export interface Rabbit extends AsyncDisposable {
  readonly url: string;
  readonly channel: ConfirmChannel;
  /** Takes all that a queue holds. */
  takeAll(queue: string): Promise<readonly string[]>;
}

/** `queues` are deleted in the end. */
export async function openRabbit(...queues: readonly string[]): Promise<Rabbit> {
  const connection = await connect({ hostname: REAL.host, port: REAL.port });
  const channel = await connection.createConfirmChannel();
  return {
    url: `amqp://${REAL.host}:${REAL.port}`,
    channel,
    async takeAll(queue) {
      const taken: string[] = [];
      for (let message = await channel.get(queue); message; message = await channel.get(queue)) {
        channel.ack(message);
        taken.push(message.content.toString());
      }
      return taken;
    },
    async [Symbol.asyncDispose]() {
      for (const queue of queues) await channel.deleteQueue(queue);
      await connection.close();
    },
  };
}
