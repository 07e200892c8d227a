import { describeHostileSource, type ServerPlace } from "@bridge/conformance";
import { hostileOverNats } from "@bridge/tooling/hostile/nats";
import { rawPublisher } from "@bridge/tooling/hostile/nats-publisher";
import { describe } from "vitest";
import { natsTransport } from "../src/nats-transport.ts";
import { hostileServer } from "./support/hostile-server.ts";
import { program } from "./support/program.ts";
import { noServer, PORT } from "./support/server.ts";

describe.skipIf(noServer)("messages that anybody may have published (needs NATS)", () => {
  describeHostileSource("finding 1.2: nats", { plugin: natsTransport, openServer: () => realServer() });
});

describeHostileSource("finding 1.7: nats", { plugin: natsTransport, openStandIn: () => hostileServer() });

async function realServer(): Promise<ServerPlace> {
  const stack = new AsyncDisposableStack();
  const peer = stack.use(await program());
  const raw = stack.use(await rawPublisher(PORT));
  const stream = await peer.stream();
  const consumer = await peer.consumer(stream);
  return {
    source: {
      session: { options: { servers: [`nats://127.0.0.1:${PORT}`] } },
      receiver: { options: { stream, consumer } },
      publish: ({ payload }) => peer.publish(`${stream}.plain`, payload),
    },
    messages: hostileOverNats(),
    async write(messages) {
      for (const message of messages) raw.publish(`${stream}.hostile`, message, "hostile");
      await raw.flush();
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
