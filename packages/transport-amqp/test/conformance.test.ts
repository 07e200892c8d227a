import {
  describeTransport,
  tcpProxy,
  type TransportCaseName,
  type Excuses,
  type TransportPlace,
} from "@bridge/conformance";
import type { SourceMessage } from "@bridge/ports";
import type { ConsumeMessage } from "amqplib";
import { describe } from "vitest";
import { amqpTransport } from "../src/amqp-transport.ts";
import { noBroker, PORT } from "./support/broker.ts";
import { program, type QueueType } from "./support/program.ts";

const NO_RELEASE = "with `retry: hold` a message waits in its slot";
const NO_COUNT = "classic queues do not count how often they hand a message out";

const holding: Excuses<TransportCaseName> = {
  "source: a delivery that is released comes back": NO_RELEASE,
  "source: a released delivery does not come back before its delay": NO_RELEASE,
};

/** A message in the words of the suite, read by hand. */
function messageOf({ fields, properties, content }: ConsumeMessage): SourceMessage {
  const headers = { ...properties.headers } as Record<string, string>;
  const { messageId, contentType, correlationId, expiration } = properties as unknown as Readonly<
    Record<string, string | undefined>
  >;
  return {
    id: messageId,
    subject: fields.routingKey,
    payload: content,
    headers,
    contentType,
    correlationId,
    dedupId: headers["dedup-id"],
    orderingKey: headers["ordering-key"],
    expiresAt: expiration === undefined ? undefined : Date.now() + Number(expiration),
  };
}

/** The queue is where the sender sends to and the receiver takes from; what the target gets is seen by another program. */
async function place(type: QueueType, options: Readonly<Record<string, unknown>>): Promise<TransportPlace> {
  const stack = new AsyncDisposableStack();
  const broker = stack.use(await program());
  const from = await broker.queue(type);
  const to = await broker.queue();
  const source = stack.use(await tcpProxy({ target: { port: PORT } }));
  const target = stack.use(await tcpProxy({ target: { port: PORT } }));
  const collect = await broker.collect(to);
  const session = (port: number) => ({ options: { url: `amqp://127.0.0.1:${port}`, connect_timeout: "5s" } });
  return {
    source: {
      session: session(source.port),
      receiver: { options: { queue: from, queue_type: type, ...options } },
      subject: from,
      publish: (message) => broker.publish(from, Buffer.from(message.payload), published(message)),
      link: source,
    },
    target: {
      session: session(target.port),
      sender: { options: {} },
      address: to,
      subject: to,
      collect: async (count) => (await collect(count)).map(messageOf),
      link: target,
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** What another program gives a message, written by hand. */
function published({ id, headers, contentType, correlationId, dedupId, orderingKey, expiresAt }: SourceMessage) {
  return {
    headers: {
      ...headers,
      ...(dedupId !== undefined && { "dedup-id": dedupId }),
      ...(orderingKey !== undefined && { "ordering-key": orderingKey }),
    },
    ...(id !== undefined && { messageId: id }),
    ...(contentType !== undefined && { contentType }),
    ...(correlationId !== undefined && { correlationId }),
    ...(expiresAt !== undefined && { expiration: String(expiresAt - Date.now()) }),
  };
}

describe.skipIf(noBroker)("on RabbitMQ", () => {
  describeTransport("a quorum queue that messages go back to", {
    plugin: amqpTransport,
    open: () => place("quorum", { retry: "requeue" }),
  });

  // Targets are the same for all queues.
  const { sender: _sender, ...receiving } = amqpTransport;
  describeTransport("a classic queue", {
    plugin: receiving,
    except: { ...holding, "source: receive counts grow": NO_COUNT },
    open: () => place("classic", {}),
  });
});
