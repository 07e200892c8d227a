import {
  defineFactory,
  type Made,
  type ReceiverContext,
  type SenderContext,
  type Session,
  type SessionContext,
  type TransportPlugin,
} from "@bridge/ports";
import { AmqpReceiver } from "./amqp-receiver.ts";
import { AmqpSender, routingKeyProblem } from "./amqp-sender.ts";
import { AmqpSession } from "./amqp-session.ts";
import { parseBrokerUrl } from "./broker-url.ts";
import {
  type ReceiverOptions,
  receiverOptions,
  senderOptions,
  type SessionOptions,
  sessionOptions,
} from "./options.ts";

/**
 * The transport `amqp`: AMQP 0-9-1, as RabbitMQ speaks it.
 *
 * Messages of a queue are acknowledged when the bridge has put them where they belong; what it sends counts as sent when
 * the broker has confirmed it, and has not returned it.
 */
export const amqpTransport: TransportPlugin = {
  type: "amqp",
  messagingSystem: "rabbitmq",
  session: defineFactory({
    options: sessionOptions,
    create: (options, context: SessionContext): Session => new AmqpSession(options, context),
  }),
  receiver: {
    needsSession: true,
    topics: "refused",
    redelivers: "always",
    competing: true,
    makes: (options, session) => queueMade(options as ReceiverOptions, session as SessionOptions),
    ...defineFactory({
      options: receiverOptions,
      create: (options, context: ReceiverContext) => {
        const receiver = new AmqpReceiver(options, context);
        amqpSession(context.session).addReceiver(receiver);
        return receiver;
      },
    }),
  },
  sender: {
    needsSession: true,
    addressProblem: routingKeyProblem,
    ...defineFactory({
      options: senderOptions,
      create: (options, { session, clock }: SenderContext) => new AmqpSender(options, amqpSession(session), clock),
    }),
  },
};

function queueMade({ queue, queue_type: type, declare }: ReceiverOptions, { url }: SessionOptions): Made | undefined {
  if (!declare) return undefined;
  const { host, port, vhost } = parseBrokerUrl(url);
  return { name: JSON.stringify([host, port, vhost, queue]), kind: "queue", as: type };
}

function amqpSession(session: Session | undefined): AmqpSession {
  if (session instanceof AmqpSession) return session;
  throw new TypeError("a session of the transport amqp was expected, made by the same plugin");
}
