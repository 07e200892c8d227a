import {
  defineFactory,
  type ReceiverContext,
  type SenderContext,
  type Session,
  type SessionContext,
  type TransportPlugin,
} from "@bridge/ports";
import { leaveSession } from "./leave-session.ts";
import { identitiesOf } from "./link-options.ts";
import { MqttSender } from "./mqtt-sender.ts";
import { MqttSession } from "./mqtt-session.ts";
import { receiverOptions, senderOptions, type SessionOptions, sessionOptions } from "./options.ts";
import { filterProblem, isShared, topicProblem } from "./topic.ts";

/**
 * The transport `mqtt`: MQTT 5 and 3.1.1.
 *
 * Acknowledgements are held until the bridge has put the message where it belongs, any number of them at once, and what
 * was not acknowledged comes back from the broker.
 */
export const mqttTransport: TransportPlugin = {
  type: "mqtt",
  session: {
    identities: (written, context) => identitiesOf(written as SessionOptions, context),
    leave: (written, context, signal) => leaveSession(written as SessionOptions, context, signal),
    ...defineFactory({
      options: sessionOptions,
      create: (options, context: SessionContext): Session => new MqttSession(options, context),
    }),
  },
  receiver: {
    needsSession: true,
    topics: "required",
    redelivers: "persistent-session",
    competing: isShared,
    topicProblem: filterProblem,
    ...defineFactory({
      options: receiverOptions,
      create: (_options, { id, session, topics }: ReceiverContext) => mqttSession(session).addReceiver(id, topics),
    }),
  },
  sender: {
    needsSession: true,
    addressProblem: topicProblem,
    ...defineFactory({
      options: senderOptions,
      create: (options, { session, clock }: SenderContext) =>
        new MqttSender(options, mqttSession(session), () => clock.now()),
    }),
  },
};

function mqttSession(session: Session | undefined): MqttSession {
  if (session instanceof MqttSession) return session;
  throw new TypeError("a session of the transport mqtt was expected, made by the same plugin");
}
