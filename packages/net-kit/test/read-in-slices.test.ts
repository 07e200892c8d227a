import { PATIENCE } from "@bridge/tooling/patience";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ClientMemory } from "../src/client-memory.ts";
import { readInSlices } from "../src/read-in-slices.ts";
import { dial, ended, open } from "./support.ts";

const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

describe("what a connection receives is handed on", () => {
  const listener = createServer();
  beforeAll(() => once(listener.listen(0, "127.0.0.1"), "listening"));
  afterAll(() => void listener.close());

  /** What comes out of a connection for each of `chunks`, read at once; nothing waits unless `waits` says so. */
  async function handedOn(chunks: readonly string[], waits: () => boolean = () => false) {
    const accepted = once(listener, "connection");
    const client = connect((listener.address() as AddressInfo).port, "127.0.0.1");
    const [socket] = (await accepted) as [Socket];
    const seen: string[] = [];
    socket.on("data", (slice: Buffer) => seen.push(slice.toString("latin1")));
    readInSlices(socket, waits);
    await once(socket, "resume");
    for (const chunk of chunks) socket.push(Buffer.from(chunk, "latin1"));
    return { seen, socket, [Symbol.dispose]: () => void (client.destroy(), socket.destroy()) };
  }

  it("as it came, when it is short, or has no end of a header", async () => {
    const chunks = [GET, GET.repeat(15), "x".repeat(60_000), `${"x".repeat(9_996)}\r\n\r\n`];
    using read = await handedOn(chunks);
    expect(read.seen).toEqual(chunks);
  });

  it("in slices that end with the header of a request, and nothing of it is lost", async () => {
    const text = GET.repeat(2_000);
    using read = await handedOn([text]);
    expect(read.seen.join("")).toBe(text);
    for (const slice of read.seen) expect([slice.length <= 540, slice.endsWith("\r\n\r\n")]).toEqual([true, true]);
    expect(read.seen.length).toBeGreaterThan(90);
  });

  it.each([512, 513, 516, 520])("in two slices, when the first header beyond 512 bytes ends at %i", async (end) => {
    const first = `${"x".repeat(end - 4)}\r\n\r\n`;
    using read = await handedOn([first + GET]);
    expect(read.seen).toEqual([first, GET]);
  });

  it("slice by slice, while the rest waits in order, also when somebody resumes it too early", async () => {
    const text = GET.repeat(100) + "x".repeat(1_000);
    let waiting = false;
    using read = await handedOn([text], () => waiting);
    expect(read.seen.join("")).toBe(text);
    read.seen.length = 0;
    waiting = true;
    read.socket.push(Buffer.from(text));
    expect(read.seen).toHaveLength(1);
    const resumed = once(read.socket, "resume");
    read.socket.resume();
    await resumed;
    // The platform may hand on one when it is resumed.
    expect(read.seen.length).toBeLessThanOrEqual(2);
    expect(read.socket.isPaused()).toBe(true);
    waiting = false;
    read.socket.resume();
    await vi.waitFor(() => expect(read.seen.join("")).toBe(text), PATIENCE);
  });
});

describe.each([
  ["a request after a body with blank lines", "\r\n\r\n".repeat(2_000)],
  ["a request after a body without one", "x".repeat(100_000)],
])("%s", (_, body) => {
  it("is answered, and both bodies are whole", async () => {
    const bodies: string[] = [];
    await using server = await open({
      on: {
        request: (incoming, outgoing) => {
          let text = "";
          incoming.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
          incoming.on("end", () => outgoing.end(String(bodies.push(text))));
        },
      },
    });
    const post = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const { socket, received } = await dial(server.port, post + post);
    await vi.waitFor(() => expect(received().match(/200 OK/g)).toHaveLength(2), PATIENCE);
    expect(bodies.map((text) => text === body)).toEqual([true, true]);
    socket.destroy();
  });
});

it("headers end with a blank line of carriage return and line feed, or are refused", async () => {
  await using server = await open();
  for (const text of [
    "GET / HTTP/1.1\nHost: a\n\n",
    "GET / HTTP/1.1\r\nHost: a\n\n",
    "GET / HTTP/1.1\r\nHost: a\r\n\n",
  ]) {
    const { socket, received } = await dial(server.port, text);
    await ended(socket);
    expect(received()).toContain("400 Bad Request");
  }
});

it("of thousands of requests that come at once, few are read before the first is answered", async () => {
  const memory = new ClientMemory(16_777_216);
  let taken = 0;
  await using server = await open({ memory, take: () => void taken++ });
  const { socket } = await dial(server.port, GET.repeat(20_000));
  await vi.waitFor(() => expect([taken, memory.bytes > 0]).toEqual([1, true]), PATIENCE);
  // Twenty requests of 2 KiB, and the bytes of two reads.
  expect(memory.bytes).toBeLessThan(20 * 2_048 + 2 * 65_536);
  socket.destroy();
});
