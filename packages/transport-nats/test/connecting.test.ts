import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { certificates } from "@bridge/tooling/certificates";
import { nkeys } from "@nats-io/transport-node";
import { describe, expect, test } from "vitest";
import { trust } from "./support/jwt.ts";
import { like } from "./support/like.ts";
import { ownServer } from "./support/own-server.ts";
import { connected, type LogLine, never, receiver, session } from "./support/parts.ts";
import { noServer, PORT } from "./support/server.ts";

async function portOf(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const PASSWORD = "hunter22";
const servers = (...ports: readonly number[]) => ports.map((port) => `nats://127.0.0.1:${port}`);

describe("an attempt to connect", () => {
  test("to a server that says nothing ends in time, and closes its socket", async () => {
    const server = createServer();
    const port = await portOf(server);
    const connection = once(server, "connection");
    await using source = session({ port, options: { connect_timeout: "100ms" } });
    await expect(source.connect(never)).rejects.toMatchObject({
      code: "TIMEOUT",
      message: like(/has not answered in time, not with a word, .*: is this the NATS port\?$/),
    });
    const [socket] = (await connection) as [Socket];
    socket.resume().on("error", () => {});
    if (!socket.closed) await once(socket, "close");
    server.close();
  });

  test("to something that is no server fails", async () => {
    const server = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    await using source = session({ port: await portOf(server) });
    await expect(source.connect(never)).rejects.toMatchObject({
      code: "CONNECTION_LOST",
      message: like("an HTTP server answered"),
    });
    server.close();
  });

  test("a target has no receivers", () => {
    const target = session({ role: "target" });
    expect(() => receiver(target, { stream: "S" })).toThrow("the target half of session broker has no receivers");
  });
});

describe.skipIf(noServer)("an attempt to connect (needs NATS)", () => {
  test("tries its servers in turn, and a silent one is not the first of the next attempt", async () => {
    const silent = createServer();
    const port = await portOf(silent);
    await using source = session({ options: { servers: servers(port, PORT), connect_timeout: "500ms" } });
    await expect(source.connect(never)).rejects.toMatchObject({ code: "TIMEOUT" });
    const connection = await source.connect(never);
    await connection[Symbol.asyncDispose]();
    await using other = session({ options: { servers: [`nats://127.0.0.1:1`, ...servers(PORT)] } });
    await (await other.connect(never))[Symbol.asyncDispose]();
    silent.close();
  });

  test("is known to operators by the names of its bridge, session and instance", async () => {
    const said: Buffer[] = [];
    const server = createServer((client) => {
      const upstream = connect({ port: PORT, host: "127.0.0.1" });
      client.on("data", (data) => said.push(data));
      client.pipe(upstream).pipe(client);
      for (const socket of [client, upstream]) socket.on("error", () => {});
    });
    const port = await portOf(server);
    for (const parts of [{ port }, { port, role: "target", replica: "node-1" }] as const) {
      await using half = session(parts);
      await half.connect(never);
    }
    const words = Buffer.concat(said).toString("latin1");
    expect(words.match(/bridge-[\w:-]+/g)).toEqual(["bridge-plant:broker", "bridge-plant:broker:node-1-target"]);
    server.close();
  });

  test("with a wrong password is refused, and the password is nowhere to be seen", async () => {
    await using server = await ownServer([`authorization { user: bridge, password: right }`]);
    const log: LogLine[] = [];
    await using source = session({ port: server.port, options: { username: "bridge", password: PASSWORD }, log });
    const error = await source.connect(never).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "NOT_AUTHORIZED", message: like(/Authorization Violation/) });
    expect(`${String(error)}${(error as Error).stack}${JSON.stringify(log)}`).not.toContain(PASSWORD);
    await using right = session({ port: server.port, options: { username: "bridge", password: "right" } });
    await connected(right);
  });

  test("with a token, or the seed of an NKey, is who it says it is", async () => {
    const user = nkeys.createUser();
    const seed = Buffer.from(user.getSeed()).toString();
    await using byToken = await ownServer([`authorization { token: ${PASSWORD} }`]);
    await using byKey = await ownServer([`authorization { users: [{ nkey: ${user.getPublicKey()} }] }`]);
    await using withToken = session({ port: byToken.port, options: { token: PASSWORD } });
    await connected(withToken);
    await using withKey = session({ port: byKey.port, options: { nkey_seed: `${seed}\n` } });
    await connected(withKey);
    const other = Buffer.from(nkeys.createUser().getSeed()).toString();
    await using stranger = session({ port: byKey.port, options: { nkey_seed: other } });
    const error = await stranger.connect(never).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "NOT_AUTHORIZED" });
    expect(`${String(error)}${(error as Error).stack}`).not.toContain(other);
  });

  test("with the text of a .creds file, is who it says it is", async () => {
    const { lines, creds } = trust();
    await using server = await ownServer(lines);
    await using source = session({ port: server.port, options: { creds } });
    await connected(source);
    await using stranger = session({ port: server.port, options: { creds: trust().creds } });
    await expect(stranger.connect(never)).rejects.toMatchObject({ code: "NOT_AUTHORIZED" });
  });

  test("with TLS trusts the authority that it is told, and no other, and shows its own certificate", async () => {
    using files = certificates("server", "bridge");
    const lines = [
      `tls { cert_file: "${files.path("server.crt")}", key_file: "${files.path("server.key")}"`,
      `ca_file: "${files.path("ca.crt")}", verify: true }`,
    ];
    await using server = await ownServer(lines);
    const own = { cert_file: files.path("bridge.crt"), key_file: files.path("bridge.key") };
    const over = (options: object) => session({ options: { servers: [`tls://localhost:${server.port}`], ...options } });
    await using source = over({ tls: { ca_file: files.path("ca.crt"), ...own } });
    const connection = await connected(source);
    await connection[Symbol.asyncDispose]();
    expect(await connection.closed).toBeUndefined();
    for (const [tls, code, message] of [
      [own, "CONNECTION_LOST", /tls\.ca_file/],
      [{ ca_file: files.path("ca.crt") }, "CONNECTION_LOST", /certificate|closed|reset/],
      [{ ca_file: "/nowhere/ca.pem" }, "UNAVAILABLE", /tls\.ca_file/],
    ] as const) {
      await using stranger = over({ tls });
      await expect(stranger.connect(never)).rejects.toMatchObject({ code, message: like(message) });
    }
  });

  test("with TLS to a server without it is refused: nothing is sent in the clear", async () => {
    await using source = session({
      options: { servers: [`tls://127.0.0.1:${PORT}`], username: "a", password: PASSWORD },
    });
    await expect(source.connect(never)).rejects.toMatchObject({ code: "CONNECTION_LOST", message: like(/tls/) });
  });

  test("a connection with TLS whose server freezes is dropped all the same", async () => {
    using files = certificates("server");
    const tls = `tls { cert_file: "${files.path("server.crt")}", key_file: "${files.path("server.key")}" }`;
    await using server = await ownServer([tls]);
    await using target = session({
      role: "target",
      options: {
        servers: [`tls://localhost:${server.port}`],
        tls: { ca_file: files.path("ca.crt") },
        ping_interval: "500ms",
      },
    });
    const connection = await connected(target);
    server.freeze();
    expect(await connection.closed).toMatchObject({ code: "CONNECTION_LOST", message: like("silent for too long") });
  });
});
