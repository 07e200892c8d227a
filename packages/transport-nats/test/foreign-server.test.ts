import { describe, expect, test } from "vitest";
import { like } from "./support/like.ts";
import { connected, never, receiver, session } from "./support/parts.ts";
import { program } from "./support/program.ts";
import { INFO, scriptedServer } from "./support/scripted-server.ts";
import { noServer } from "./support/server.ts";

/** Far more than is read before the connection is ended. */
const FLOOD = Buffer.alloc(65_536, "x");

describe("finding 1.7: what a server announces", () => {
  test.each([
    [
      "MSG a 1 4294967295\r\n",
      "a message of 4294967295 bytes was announced and is not read, as max_message_bytes is 16777216",
    ],
    ["HMSG a 1 b 12 16777217\r\n", "a message of 16777217 bytes was announced"],
    ["MSG a 1 99999999999999999999\r\n", "a message of 100000000000000000000 bytes was announced"],
    [`MSG ${"a".repeat(65_536)}`, "a line of more than 65536 bytes"],
    ["MSG a 1 b\r\n", "a message without a length"],
    ["MSG a 1 1\r\nxx\r\n", "a message longer than announced"],
    ["MSG 1\r\n", "a line that is not of its protocol|what is not its protocol"],
    ["BOO\r\n", "a line that is not of its protocol"],
  ])("is refused as soon as it is said: %s", async (said, message) => {
    await using server = await scriptedServer(INFO, (line, socket) => {
      if (line !== "PING") return;
      socket.write("PONG\r\n");
      socket.write(said);
      for (let flood = 0; flood < 16; flood++) socket.write(FLOOD);
    });
    await using source = session({ port: server.port });
    const lost = source.connect(never).then((connection) => connection.closed);
    const error = await lost.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "CONNECTION_LOST", message: like(new RegExp(`^nats://.*(?:${message})`)) });
  });

  test("in its very first line is bounded as well", async () => {
    await using server = await scriptedServer(`INFO {"${"x".repeat(70_000)}`);
    await using source = session({ port: server.port });
    await expect(source.connect(never)).rejects.toMatchObject({ message: like(/a line of more than 65536 bytes/) });
  });
});

describe("finding 6.10: what answers in place of a NATS server is named", () => {
  test.each([
    ["HTTP/1.1 400 Bad Request\r\n\r\n", "an HTTP server answered at nats://"],
    ["AMQP\0\0\t\u0001", "an AMQP server answered at nats://"],
    ["INFO nonsense\r\n", "something that does not speak NATS answered at nats://"],
    ["INFO {nonsense}\r\n", "what is not its protocol|does not speak NATS"],
  ])("by how it begins: %j", async (greeting, message) => {
    await using server = await scriptedServer(greeting);
    await using source = session({ port: server.port });
    const problem = { code: "CONNECTION_LOST", message: like(new RegExp(message)) };
    await expect(source.connect(never)).rejects.toMatchObject(problem);
  });

  test("by its silence, as NATS servers speak first", async () => {
    await using server = await scriptedServer("");
    await using source = session({ port: server.port, options: { connect_timeout: "300ms" } });
    await expect(source.connect(never)).rejects.toMatchObject({ message: like(/is this the NATS port\?$/) });
  });

  test.skipIf(noServer)("TLS where there is none (needs NATS)", async () => {
    await using source = session({ options: { servers: ["tls://127.0.0.1:4222"] } });
    await expect(source.connect(never)).rejects.toMatchObject({ message: like(/does not offer TLS/) });
  });
});

test.skipIf(noServer)(
  "finding 1.7: a message beyond max_message_bytes ends the connection before it is read (needs NATS)",
  async () => {
    await using peer = await program();
    const stream = await peer.stream();
    const consumer = await peer.consumer(stream);
    await peer.publish(`${stream}.a`, Buffer.alloc(2_000));
    await using source = session({ options: { max_message_bytes: 1_500 } });
    receiver(source, { stream, consumer });
    const connection = await connected(source);
    expect(await connection.closed).toMatchObject({
      code: "CONNECTION_LOST",
      message: like(/: a message of 20\d\d bytes was announced .* max_message_bytes is 1500: raise it/),
    });
  },
);
