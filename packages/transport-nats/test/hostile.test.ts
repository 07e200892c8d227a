import { describeHostileSource, type ServerPlace } from "@bridge/conformance";
import { describe } from "vitest";
import { natsTransport } from "../src/index.ts";
import { hostileServer } from "./support/hostile-server.ts";
import { program } from "./support/program.ts";
import { rawPublisher } from "./support/raw-publisher.ts";
import { noServer, PORT } from "./support/server.ts";

describe.skipIf(noServer)("messages that anybody may have published (needs NATS)", () => {
  describeHostileSource("finding 1.2: nats", { plugin: natsTransport, openServer: () => realServer() });
});

describeHostileSource("finding 1.7: nats", { plugin: natsTransport, openStandIn: () => hostileServer() });

async function realServer(): Promise<ServerPlace> {
  const stack = new AsyncDisposableStack();
  const peer = stack.use(await program());
  const raw = stack.use(await rawPublisher());
  const stream = await peer.stream();
  const consumer = await peer.consumer(stream);
  return {
    source: {
      session: { options: { servers: [`nats://127.0.0.1:${PORT}`] } },
      receiver: { options: { stream, consumer } },
      publish: ({ payload }) => peer.publish(`${stream}.plain`, payload),
    },
    messages: blocks(),
    async write(messages) {
      for (const message of messages) raw.publish(`${stream}.hostile`, message, "hostile");
      await raw.flush();
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Blocks of headers: every byte in a name and in a value, and what is no header. */
function blocks(): readonly Uint8Array[] {
  const bytes = Array.from({ length: 256 }, (_, byte) => Buffer.of(byte));
  const lines = [
    "my header: v",
    ": v",
    ":",
    "a",
    "\r\na: b",
    "a: 1\r\na: 2\r\nA: 3",
    "__proto__: v",
    "more-headers: {",
  ];
  const whole = ["NATS/1.0 503\r\n\r\n", "NATS/1.0 100 Idle\r\n\r\n", "NATS/2.0\r\n\r\n", "\r\n\r\n", "NATS/1.0"];
  return [
    ...bytes.map((byte) => Buffer.concat([Buffer.from("NATS/1.0\r\na"), byte, Buffer.from("b: v\r\n\r\n")])),
    ...bytes.map((byte) => Buffer.concat([Buffer.from("NATS/1.0\r\na: v"), byte, Buffer.from("v\r\n\r\n")])),
    ...lines.map((line) => Buffer.from(`NATS/1.0\r\n${line}\r\n\r\n`)),
    ...whole.map((text) => Buffer.from(text)),
    Buffer.from(`NATS/1.0\r\n${"a".repeat(60_000)}: v\r\n\r\n`),
    Buffer.from(`NATS/1.0\r\na: ${"v".repeat(60_000)}\r\n\r\n`),
    Buffer.from(`NATS/1.0\r\n${Array.from({ length: 1_000 }, (_, index) => `h${index}: v\r\n`).join("")}\r\n`),
  ];
}
