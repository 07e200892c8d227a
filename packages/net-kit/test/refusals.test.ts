import { PATIENCE } from "@bridge/tooling/patience";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { dial, ended, open } from "./support.ts";

const CHUNKED = "3\r\nabc\r\n0\r\n\r\n";

/** All that is answered to `text`, up to the end of the connection, and how many requests were taken. */
async function answerTo(text: string): Promise<{ readonly answer: string; readonly taken: number }> {
  let taken = 0;
  const take = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    taken++;
    incoming.resume();
    outgoing.end("ok");
  };
  await using server = await open({ take, on: { checkContinue: take }, methods: ["GET", "POST"] });
  const { socket, received } = await dial(server.port, text);
  await ended(socket);
  return { answer: received(), taken };
}

describe("what every server refuses before anybody is asked about it", () => {
  it("keeps no connection of a client that does not end its own half", async () => {
    await using server = await open();
    const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
    socket.on("error", () => {}).write("CONNECT elsewhere:443 HTTP/1.1\r\nHost: elsewhere:443\r\n\r\n");
    await once(socket.resume(), "end");
    await expect.poll(() => server.stats().connections).toBe(0);
    socket.destroy();
  });

  it.each([
    ["CONNECT", "CONNECT elsewhere:443 HTTP/1.1\r\nHost: elsewhere:443\r\n\r\n", 405, "method not allowed"],
    ["an unknown expectation", "GET / HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\n\r\n", 417, "100-continue"],
    [
      "a body under an unknown expectation",
      "POST / HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\nContent-Length: 3\r\n\r\nabc",
      417,
      "100-continue",
    ],
    ["a second Host", "GET / HTTP/1.1\r\nHost: a\r\nX-Between: b\r\nhost: a\r\n\r\n", 400, "more than one Host"],
    [
      "a coded body",
      `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n${CHUNKED}`,
      501,
      "only chunked",
    ],
    [
      "a coded body that is announced",
      "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
      501,
      "only chunked",
    ],
  ])("%s", async (_what, request, status, message) => {
    const { answer, taken } = await answerTo(request);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    expect(JSON.parse(body)).toEqual({ error: expect.stringContaining(message) as string });
    expect(head).toContain("\r\nContent-Type: application/json");
    expect(head).toContain("\r\nConnection: close");
    expect(head).toContain("\r\nX-Own: yes");
    expect(head.includes("\r\nAllow: GET, POST")).toBe(status === 405);
    expect(taken).toBe(0);
  });

  it("but no other headers of four letters beside Host, nor any that comes twice", async () => {
    const { answer, taken } = await answerTo(
      "GET / HTTP/1.1\r\nHost: a\r\nDate: now\r\nFrom: host\r\nFrom: host\r\nConnection: close\r\n\r\n",
    );
    expect({ answer, taken }).toMatchObject({ taken: 1, answer: expect.stringMatching(/^HTTP\/1\.1 200 /) as string });
  });

  it("but neither a chunked body nor one that waits for 100", async () => {
    const chunked = await answerTo(
      `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: Chunked\r\n\r\n${CHUNKED}`,
    );
    expect(chunked).toMatchObject({ taken: 1, answer: expect.stringMatching(/^HTTP\/1\.1 200 /) as string });
    const expecting = await answerTo("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-Continue\r\n\r\n");
    expect(expecting).toMatchObject({ taken: 1, answer: expect.stringMatching(/^HTTP\/1\.1 200 /) as string });
  });

  it("a CONNECT behind a request that is not answered yet gets no answer that could be taken for that one's", async () => {
    await using server = await open({ take: () => {} });
    const { socket, received } = await dial(server.port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await vi.waitFor(() => expect(server.stats().connections).toBe(1), PATIENCE);
    socket.write("CONNECT elsewhere:443 HTTP/1.1\r\nHost: elsewhere:443\r\n\r\n");
    await ended(socket);
    expect(received()).toBe("");
  });

  it("a CONNECT whose caller sends on and hangs up costs nobody else anything", async () => {
    await using server = await open();
    const { socket } = await dial(server.port, `CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n${"x".repeat(100_000)}`);
    socket.resetAndDestroy();
    const { socket: other, received } = await dial(server.port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await vi.waitFor(() => expect(received()).toContain("ok"), PATIENCE);
    other.destroy();
  });
});
