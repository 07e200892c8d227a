import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { certificates } from "@bridge/tooling/certificates";
import { describe, expect, test } from "vitest";
import { noBroker, PORT } from "./support/broker.ts";
import { like } from "./support/like.ts";
import { type LogLine, never, receiver, session } from "./support/parts.ts";

async function portOf(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Passes on to the broker what a client says, and back. */
function relay(client: Socket): void {
  const upstream = connect({ port: PORT, host: "127.0.0.1" });
  client.pipe(upstream).pipe(client);
  for (const socket of [client, upstream]) socket.on("error", () => {});
}

describe("an attempt to connect", () => {
  test("to a broker that says nothing ends in time", async () => {
    const server = createServer();
    const port = await portOf(server);
    const connection = once(server, "connection");
    await using source = session({ port, options: { connect_timeout: "100ms" } });
    await expect(source.connect(never)).rejects.toMatchObject({
      code: "TIMEOUT",
      message: `amqp://127.0.0.1:${port}: the broker has not answered within 100 ms`,
    });
    const [socket] = (await connection) as [Socket];
    socket.resume().on("error", () => {});
    if (!socket.closed) await once(socket, "close");
    server.close();
  });

  test("to something that is no broker fails", async () => {
    const server = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    await using source = session({ port: await portOf(server) });
    await expect(source.connect(never)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
    server.close();
  });

  test("a target has no receivers", () => {
    const target = session({ role: "target" });
    expect(() => receiver(target, { queue: "q" })).toThrow("the target half of session broker has no receivers");
  });
});

describe.skipIf(noBroker)("an attempt to connect (needs RabbitMQ)", () => {
  test("with a wrong password is refused, and the password is nowhere to be seen", async () => {
    const log: LogLine[] = [];
    await using source = session({ options: { username: "nobody", password: "hunter22" }, log });
    const error = await source.connect(never).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "NOT_AUTHORIZED", message: like(/403.*Login was refused/) });
    expect(`${String(error)}${(error as Error).stack}${JSON.stringify(log)}`).not.toContain("hunter22");
  });

  test("to a virtual host that is not there says so", async () => {
    await using source = session({ options: { url: `amqp://127.0.0.1:${PORT}/nowhere` } });
    await expect(source.connect(never)).rejects.toMatchObject({
      code: "FORBIDDEN",
      message: like(/:5672\/nowhere: the broker does not open the virtual host/),
    });
  });

  test("is known to operators by the names of its bridge, session and instance", async () => {
    const said: Buffer[] = [];
    const server = createServer((client) => {
      client.on("data", (data) => said.push(data));
      relay(client);
    });
    const port = await portOf(server);
    for (const parts of [{ port }, { port, role: "target", replica: "node-1" }] as const) {
      await using half = session(parts);
      await half.connect(never);
    }
    const words = Buffer.concat(said)
      .toString("latin1")
      .match(/bridge-[\w:-]+/g);
    expect(words).toEqual(["bridge-plant:broker", "bridge-plant:broker:node-1-target"]);
    server.close();
  });

  test("finds the virtual host that is named in full", async () => {
    await using source = session({ options: { url: `amqp://127.0.0.1:${PORT}/%2F` } });
    const connection = await source.connect(never);
    await connection[Symbol.asyncDispose]();
    expect(await connection.closed).toBeUndefined();
  });

  test("with TLS trusts the authority that it is told, and no other", async () => {
    using files = certificates("broker");
    const server = createTlsServer({ cert: files.files["broker.crt"], key: files.files["broker.key"] }, relay);
    const url = `amqps://localhost:${await portOf(server)}`;
    {
      await using source = session({ options: { url, tls: { ca_file: files.path("ca.crt") } } });
      const connection = await source.connect(never);
      await connection.reconcile(never);
      await using stranger = session({ options: { url } });
      await expect(stranger.connect(never)).rejects.toMatchObject({
        code: "CONNECTION_LOST",
        message: like("tls.ca_file"),
      });
      await using misled = session({ options: { url, tls: { ca_file: "/nowhere/ca.pem" } } });
      await expect(misled.connect(never)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    }
    server.close();
  });
});
