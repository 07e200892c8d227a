import { connect as connectTls } from "node:tls";
import type { IncomingMessage } from "node:http";
import { once } from "node:events";
import { certificates } from "@bridge/tooling/certificates";
import { describe, expect, it, vi } from "vitest";
import { dial, ended, open } from "./support.ts";

const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

describe("what a listener bounds", () => {
  it("a connection that stays idle after an answer is ended", async () => {
    await using server = await open({ limits: { idleTimeoutMs: 50 } });
    const { socket, received } = await dial(server.port, GET);
    await ended(socket);
    expect(received()).toContain("ok");
  });

  it("a TLS handshake that is not finished is ended and counted", async () => {
    using made = certificates("server");
    const tls = { certFile: made.path("server.crt"), keyFile: made.path("server.key") };
    await using server = await open({ tls, limits: { handshakeTimeoutMs: 50 } });
    const { socket } = await dial(server.port);
    await ended(socket);
    expect(server.stats()).toMatchObject({ connectionsEnded: 0, tls: { handshakesFailed: 1 } });
  });

  it("a request may have any number of headers, as long as their size is within the bound", async () => {
    const counts: number[] = [];
    await using server = await open({
      limits: { headerSize: 100_000 },
      take: (incoming, outgoing) => {
        counts.push(incoming.rawHeaders.length / 2);
        outgoing.end("ok");
      },
    });
    const { socket, received } = await dial(
      server.port,
      `GET / HTTP/1.1\r\nHost: a\r\n${"h: 1\r\n".repeat(5_000)}\r\n`,
    );
    await vi.waitFor(() => expect(received()).toContain("ok"));
    expect(counts).toEqual([5_001]);
    socket.destroy();
  });

  it.each([
    [true, /^HTTP\/1\.1 400 /],
    [false, /^HTTP\/1\.1 200 /],
  ])("a request without Host, when one is required: %s", async (requireHostHeader, answer) => {
    await using server = await open({ requireHostHeader });
    const { socket, received } = await dial(server.port, "GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
    await ended(socket);
    expect(received()).toMatch(answer);
  });

  it("clients of TLS are asked for a certificate only when an authority for them is named", async () => {
    using made = certificates("server");
    const tls = { certFile: made.path("server.crt"), keyFile: made.path("server.key") };
    await using server = await open({ tls });
    const socket = connectTls({ port: server.port, host: "127.0.0.1", ca: made.authority.cert });
    await once(socket, "secureConnect");
    socket.write(GET);
    expect(String(await once(socket, "data"))).toContain("ok");
    socket.destroy();
  });

  it("each event of the platform's server reaches who takes it", async () => {
    const seen: string[] = [];
    const take = (name: string) => (incoming: IncomingMessage, outgoing: { end(text: string): unknown }) => {
      seen.push(name);
      incoming.resume();
      outgoing.end(name);
    };
    await using server = await open({ take: take("request"), on: { checkContinue: take("continue") } });
    for (const [name, expectation] of [
      ["request", ""],
      ["continue", "Expect: 100-continue\r\n"],
    ] as const) {
      const { socket, received } = await dial(server.port, `GET / HTTP/1.1\r\nHost: a\r\n${expectation}\r\n`);
      await vi.waitFor(() => expect(received()).toContain(`\r\n\r\n${name}`));
      socket.destroy();
    }
    expect(seen).toEqual(["request", "continue"]);
  });
});
