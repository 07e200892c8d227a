import { AckPolicy, type ConsumerMessages, jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import type { Forward, OpenSource, OpenTarget } from "./forward.ts";

const CONSUMER = "script";

export const natsSource: OpenSource = async ({ port, name }, window, forward) => {
  const connection = await connect({ servers: `127.0.0.1:${port}` });
  const manager = await jetstreamManager(connection);
  const consumer = { durable_name: CONSUMER, ack_policy: AckPolicy.Explicit, max_ack_pending: window };
  await manager.consumers.add(name, consumer);
  const pulled = await jetstream(connection).consumers.get(name, CONSUMER);
  void take(await pulled.consume({ max_messages: window }), forward);
};

async function take(messages: ConsumerMessages, forward: Forward): Promise<void> {
  for await (const message of messages) {
    const { buffer, byteOffset, byteLength } = message.data;
    forward(Buffer.from(buffer, byteOffset, byteLength), (taken) => (taken ? message.ack() : message.nak()));
  }
}

export const natsTarget: OpenTarget = async ({ port, name }) => {
  const stream = jetstream(await connect({ servers: `127.0.0.1:${port}` }));
  async function publish(payload: Buffer, done: (taken: boolean) => void): Promise<void> {
    let taken = false;
    try {
      await stream.publish(name, payload);
      taken = true;
    } catch {
      // It is not taken.
    }
    done(taken);
  }
  return (payload, done) => void publish(payload, done);
};
