import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { request } from "undici";
import { expect, test } from "vitest";
import { failureWithout } from "../../src/sender/failure.ts";

/** What a request is told to whom `said` is answered, by whatever it is, which then hangs up. */
async function toldOf(said: string, atOnce = false): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    const say = () => socket.end(Buffer.from(said, "latin1"));
    if (atOnce) say();
    else socket.once("data", say);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const thrown: unknown = await request(origin, { method: "POST", body: "x" }).catch((error: unknown) => error);
    return failureWithout(thrown, origin).message.replace(origin, "ORIGIN");
  } finally {
    server.close();
  }
}

test.each([
  ["SSH-2.0-OpenSSH_9.6\r\n", "an SSH server answered at ORIGIN; is this the HTTP port?"],
  ["-ERR wrong number of arguments\r\n", "a Redis server answered at ORIGIN; is this the HTTP port?"],
  ["INFO {}\r\n", "a NATS server answered at ORIGIN; is this the HTTP port?"],
  ["220 mail.example ESMTP\r\n", "a mail or FTP server answered at ORIGIN; is this the HTTP port?"],
  ["\u0015\u0003\u0001\0\u0002\u0002\n", "a server that expects TLS answered at ORIGIN; "],
  ["\0\0rubbish", "something that does not speak HTTP answered at ORIGIN; is this the HTTP port?"],
  ["", "no response from ORIGIN: the connection was closed before there was a whole answer"],
])("what answers at the address is named: %j", async (said, told) => {
  expect(await toldOf(said)).toContain(told);
});

test.each(["SSH-2.0-OpenSSH_9.6\r\n", "INFO {}\r\n", "220 mail.example ESMTP\r\n"])(
  "so is what greets before it is asked: %j",
  async (said) => {
    expect(await toldOf(said, true)).toContain("server answered at ORIGIN; is this the HTTP port?");
  },
);

test("an answer whose headers are too large is told in words", async () => {
  const told = await toldOf(`HTTP/1.1 200 OK\r\nx: ${"x".repeat(100_000)}\r\n\r\n`);
  expect(told).toBe("no response from ORIGIN: the headers of the answer are too large");
});
