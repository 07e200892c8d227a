import { PATIENCE } from "@bridge/tooling/patience";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type TcpProxy, tcpProxy } from "../src/tcp-proxy.ts";

let echo: Server;
let proxy: TcpProxy;

beforeEach(async () => {
  echo = createServer((socket) => socket.on("error", () => {}).pipe(socket)).listen(0, "127.0.0.1");
  await once(echo, "listening");
  proxy = await tcpProxy({ target: { port: (echo.address() as { port: number }).port } });
});

afterEach(async () => {
  await proxy[Symbol.asyncDispose]();
  echo.close();
});

async function open(): Promise<Socket> {
  const socket = connect(proxy.port, proxy.host);
  await once(socket, "connect");
  return socket;
}

async function roundTrip(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [bytes] = (await once(socket, "data")) as [Buffer];
  return bytes.toString();
}

/** A connection of its own to the server shows that bytes have had the time to pass and to come back. */
async function timeForBytes(): Promise<void> {
  const direct = connect((echo.address() as { port: number }).port, "127.0.0.1");
  for (let i = 0; i < 5; i++) await roundTrip(direct, "ping");
  direct.destroy();
}

test("passes bytes in both directions, and the end of a stream", async () => {
  const socket = await open();
  expect(await roundTrip(socket, "hello")).toBe("hello");
  expect(proxy.connections).toBe(1);
  socket.end();
  await once(socket.resume(), "close");
  await expect.poll(() => proxy.connections, PATIENCE).toBe(0);
});

test("passes more than its buffers hold", async () => {
  const socket = await open();
  const size = 16 * 1024 * 1024;
  socket.end(Buffer.alloc(size, 7));
  let received = 0;
  for await (const bytes of socket) received += (bytes as Buffer).length;
  expect(received).toBe(size);
});

test("rate lets so much through in a second, whole, on connections that are open and on new ones", async () => {
  const early = await open();
  proxy.rate(200_000);
  for (const socket of [early, await open()]) {
    let received = 0;
    socket.on("data", (bytes: Buffer) => (received += bytes.length));
    const startedAt = performance.now();
    // In small pieces: what is on the line already takes its time too.
    for (let piece = 0; piece < 100; piece++) {
      socket.write(Buffer.alloc(1_000, 7));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect.poll(() => received, { ...PATIENCE, interval: 5 }).toBe(100_000);
    expect(performance.now() - startedAt).toBeGreaterThan(490);
  }
});

test("nothing is held back by a rate that is over: neither what waits nor what comes, on old connections and new ones", async () => {
  const socket = await open();
  let received = 0;
  socket.on("data", (bytes: Buffer) => (received += bytes.length));
  proxy.rate(1);
  socket.write(Buffer.alloc(100_000, 7));
  await timeForBytes();
  expect(received).toBe(0);
  await proxy.restore();
  await expect.poll(() => received, PATIENCE).toBe(100_000);
  for (const late of [socket, (await open()).on("data", (bytes: Buffer) => (received += bytes.length))]) {
    const before = received;
    late.write(Buffer.alloc(100_000, 7));
    await expect.poll(() => received - before, PATIENCE).toBe(100_000);
  }
});

test("cut closes what is open and takes new connections", async () => {
  const socket = await open();
  await roundTrip(socket, "a");
  proxy.cut();
  await once(socket.resume(), "close");
  expect(await roundTrip(await open(), "b")).toBe("b");
});

test("reset is seen as ECONNRESET", async () => {
  const socket = await open();
  await roundTrip(socket, "a");
  const failed = once(socket, "error");
  proxy.reset();
  expect(await failed).toMatchObject([{ code: "ECONNRESET" }]);
});

test("freeze holds everything back until restored, on new connections too", async () => {
  const early = await open();
  await roundTrip(early, "a");
  proxy.freeze();
  const late = await open();
  const arrived: string[] = [];
  for (const socket of [early, late]) socket.on("data", (bytes: Buffer) => arrived.push(bytes.toString()));
  early.write("early");
  late.write("late");
  await timeForBytes();
  expect(arrived).toEqual([]);
  await proxy.restore();
  await expect.poll(() => arrived.toSorted(), PATIENCE).toEqual(["early", "late"]);
});

test("delay makes each direction late, and keeps the order", async () => {
  const socket = await open();
  proxy.delay(40);
  const begun = performance.now();
  socket.write("a");
  socket.write("b");
  let text = "";
  socket.on("data", (bytes: Buffer) => (text += bytes.toString()));
  await expect.poll(() => text, PATIENCE).toBe("ab");
  // Timers may be a millisecond early.
  expect(performance.now() - begun).toBeGreaterThanOrEqual(78);
});

test("reset breaks a connection that is half closed too", async () => {
  const silent = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1");
  await once(silent, "listening");
  await using through = await tcpProxy({ target: { port: (silent.address() as { port: number }).port } });
  const accepted = once(silent, "connection") as Promise<[Socket]>;
  const socket = connect({ port: through.port, host: through.host, allowHalfOpen: true });
  const [peer] = await accepted;
  peer.on("error", () => {});
  socket.end();
  await once(peer.resume(), "end");
  const failed = once(socket, "error");
  through.reset();
  expect(await failed).toMatchObject([{ code: "ECONNRESET" }]);
  await expect.poll(() => through.connections, PATIENCE).toBe(0);
  peer.destroy();
  silent.close();
});

test("refuse is seen as ECONNREFUSED, leaves open connections alone, and ends on restore", async () => {
  const socket = await open();
  await roundTrip(socket, "a");
  proxy.refuse();
  await expect(open()).rejects.toMatchObject({ code: "ECONNREFUSED" });
  expect(await roundTrip(socket, "b")).toBe("b");
  await proxy.restore();
  expect(await roundTrip(await open(), "c")).toBe("c");
});

test("a target that is not there breaks the connection", async () => {
  await using dead = await tcpProxy({ target: { port: 1 } });
  const socket = connect(dead.port, dead.host);
  expect(await once(socket, "error")).toMatchObject([{ code: "ECONNRESET" }]);
});

test("disposing twice is once, and leaves no connection", async () => {
  const socket = await open();
  await roundTrip(socket, "a");
  await proxy[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  expect(proxy.connections).toBe(0);
  await once(socket.resume(), "close");
});
