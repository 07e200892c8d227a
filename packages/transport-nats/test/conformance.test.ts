import { describeTransport, tcpProxy, type TransportPlace } from "@bridge/conformance";
import type { SourceMessage } from "@bridge/ports";
import type { Msg } from "@nats-io/transport-node";
import { describe } from "vitest";
import { natsTransport } from "../src/nats-transport.ts";
import { type Program, program } from "./support/program.ts";
import { noServer, PORT } from "./support/server.ts";

/** A message in the words of the suite, read by hand. */
function messageOf({ subject, data, headers: written }: Msg): SourceMessage {
  const headers = Object.fromEntries(Array.from(written ?? [], ([name, values]) => [name, values.join()]));
  const expiry = headers["expires-at"];
  return {
    id: headers["message-id"],
    subject,
    payload: data,
    headers,
    contentType: headers["content-type"],
    correlationId: headers["correlation-id"],
    dedupId: headers["Nats-Msg-Id"],
    orderingKey: headers["ordering-key"],
    expiresAt: expiry === undefined ? undefined : Date.parse(expiry),
  };
}

/** What another program gives a message, written by hand. */
function published(message: SourceMessage): Record<string, string> {
  const { id, headers, contentType, correlationId, dedupId, orderingKey, expiresAt } = message;
  return {
    ...headers,
    ...(id !== undefined && { "Message-Id": id }),
    ...(contentType !== undefined && { "Content-Type": contentType }),
    ...(correlationId !== undefined && { "Correlation-Id": correlationId }),
    ...(dedupId !== undefined && { "Nats-Msg-Id": dedupId }),
    ...(orderingKey !== undefined && { "ordering-key": orderingKey }),
    ...(expiresAt !== undefined && { "expires-at": new Date(expiresAt).toISOString() }),
  };
}

/** A consumer that waits for what it has handed out would have a window of one. */
const except = {
  "source: what the end of its process leaves unsettled comes back in its order":
    "it comes when `ack_wait` is over, and younger messages are handed out meanwhile",
} as const;

type Options = Readonly<Record<string, unknown>>;

async function place(
  options: (stream: string, server: Program) => Options | Promise<Options>,
): Promise<TransportPlace> {
  const stack = new AsyncDisposableStack();
  const server = stack.use(await program());
  const from = await server.stream();
  const to = await server.stream();
  const source = stack.use(await tcpProxy({ target: { port: PORT } }));
  const target = stack.use(await tcpProxy({ target: { port: PORT } }));
  const collect = server.collect(`${to}.>`);
  await server.connection.flush();
  const session = (port: number) => ({ options: { servers: [`nats://127.0.0.1:${port}`], connect_timeout: "5s" } });
  return {
    source: {
      session: session(source.port),
      receiver: { options: { stream: from, ...(await options(from, server)) } },
      subject: `${from}.a`,
      publish: (message) => server.publish(message.subject, message.payload, published(message)),
      link: source,
    },
    target: {
      session: session(target.port),
      sender: { options: { stream: to } },
      address: `${to}.a`,
      subject: `${to}.a`,
      collect: async (count) => (await collect(count)).map(messageOf),
      link: target,
    },
    // A server takes 1 MiB, headers included.
    largestPayload: 1024 * 1024 - 16 * 1024,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

describe.skipIf(noServer)("on NATS JetStream", () => {
  describeTransport("a durable consumer of the bridge's making", {
    plugin: natsTransport,
    except,
    open: () => place(() => ({ consumer: "suite", create: true, ack_wait: "1s" })),
  });

  // Targets are the same for all consumers.
  const { sender: _sender, ...receiving } = natsTransport;
  describeTransport("a consumer that is there", {
    plugin: receiving,
    except,
    open: () =>
      place(async (stream, server) => ({
        consumer: await server.consumer(stream, { ack_wait: 1e9, max_ack_pending: 1_000 }),
      })),
  });
});
