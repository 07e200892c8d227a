import {
  defineFactory,
  type Made,
  type ReceiverContext,
  type SenderContext,
  type Session,
  type SessionContext,
  type TransportPlugin,
} from "@bridge/ports";
import { NatsReceiver } from "./nats-receiver.ts";
import { NatsSender } from "./nats-sender.ts";
import { NatsSession } from "./nats-session.ts";
import {
  ackWaitOf,
  type ReceiverOptions,
  receiverOptions,
  senderOptions,
  type SessionOptions,
  sessionOptions,
} from "./options.ts";
import { subjectProblem } from "./subject.ts";

/**
 * The transport `nats`: streams of NATS JetStream.
 *
 * Messages of a stream are acknowledged when the bridge has put them where they belong; what it sends counts as sent when
 * a stream has taken it.
 */
export const natsTransport: TransportPlugin = {
  type: "nats",
  session: defineFactory({
    options: sessionOptions,
    create: (options, context: SessionContext): Session => new NatsSession(options, context),
  }),
  receiver: {
    needsSession: true,
    topics: "refused",
    redelivers: "always",
    // Each instance makes an ephemeral consumer of its own, which gets everything.
    competing: (_topic, options) => isDurable(options),
    makes: (options, session) => consumerMade(options as ReceiverOptions, session as SessionOptions),
    ...defineFactory({
      options: receiverOptions,
      create: (options, context: ReceiverContext) => {
        const receiver = new NatsReceiver(options, context);
        natsSession(context.session).addReceiver(receiver);
        return receiver;
      },
    }),
  },
  sender: {
    needsSession: true,
    addressProblem: (address) => (address === "" ? undefined : subjectProblem(address)),
    ...defineFactory({
      options: senderOptions,
      create: (options, { session, clock }: SenderContext) => new NatsSender(options, natsSession(session), clock),
    }),
  },
};

function isDurable(options: unknown): boolean {
  return typeof options === "object" && options !== null && "consumer" in options;
}

/** Two users may be of two accounts, where one name means two streams. */
function consumerMade(receiver: ReceiverOptions, session: SessionOptions): Made | undefined {
  const { stream, consumer, create, filter_subject: filter, deliver = "all", max_ack_pending: pending } = receiver;
  if (consumer === undefined || !create) return undefined;
  const { servers, username, token, nkey_seed: seed, creds } = session;
  const name = JSON.stringify([servers.toSorted(), username, token, seed, creds, stream, consumer]);
  return { name, kind: "consumer", as: { filter, deliver, ackWaitMs: ackWaitOf(receiver), pending } };
}

function natsSession(session: Session | undefined): NatsSession {
  if (session instanceof NatsSession) return session;
  throw new TypeError("a session of the transport nats was expected, made by the same plugin");
}
