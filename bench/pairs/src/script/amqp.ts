import { connect } from "amqplib";
import type { OpenSource, OpenTarget } from "./forward.ts";

export const amqpSource: OpenSource = async ({ port, name }, window, forward) => {
  const connection = await connect(`amqp://127.0.0.1:${port}`, { noDelay: true });
  const channel = await connection.createChannel();
  await channel.prefetch(window);
  await channel.consume(name, (message) => {
    if (message === null) return;
    forward(message.content, (taken) => (taken ? channel.ack(message) : channel.nack(message)));
  });
};

export const amqpTarget: OpenTarget = async ({ port, name }) => {
  const connection = await connect(`amqp://127.0.0.1:${port}`, { noDelay: true });
  const channel = await connection.createConfirmChannel();
  return (payload, done) => {
    channel.publish("", name, payload, { persistent: true }, (error: unknown) => done(error === null));
  };
};
