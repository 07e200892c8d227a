import { PATIENCE } from "@bridge/tooling/patience";
import { readFileSync } from "node:fs";
import { connect as connectTls, type TLSSocket } from "node:tls";
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
      `GET / HTTP/1.1\r\nHost: a\r\n${"h: 1234567\r\n".repeat(5_000)}\r\n`,
    );
    await vi.waitFor(() => expect(received()).toContain("ok"), PATIENCE);
    expect(counts).toEqual([5_001]);
    socket.destroy();
    const large = await dial(server.port, `GET / HTTP/1.1\r\nHost: a\r\nh: ${"x".repeat(100_000)}\r\n\r\n`);
    await ended(large.socket);
    expect(large.received()).toMatch(/^HTTP\/1\.1 431 /);
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

  it.each([false, true])("a client's certificate is asked for only when an authority is named: %s", async (named) => {
    using made = certificates("server", "client");
    const file = { certFile: made.path("server.crt"), keyFile: made.path("server.key") };
    const tls = { ...file, ...(named && { clientCaFile: made.path("ca.crt") }) };
    const shown: unknown[] = [];
    await using server = await open({
      tls,
      take(incoming, outgoing) {
        shown.push((incoming.socket as TLSSocket).getPeerCertificate().subject?.CN);
        outgoing.end("ok");
      },
    });
    const client = { cert: readFileSync(made.path("client.crt")), key: readFileSync(made.path("client.key")) };
    const dialled = { port: server.port, host: "127.0.0.1", ca: made.authority.cert };
    const socket = connectTls({ ...dialled, ...client });
    await once(socket, "secureConnect");
    socket.write(GET);
    expect(String(await once(socket, "data"))).toContain("ok");
    expect(shown).toEqual([named ? "client" : undefined]);
    socket.destroy();
    const without = connectTls(dialled, () => without.write(GET));
    const answer = await new Promise((resolve) => {
      without.on("data", String).on("data", resolve).on("error", resolve);
    });
    expect(String(answer)).toMatch(named ? /certificate required/ : /ok/);
    without.destroy();
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
      await vi.waitFor(() => expect(received()).toContain(`\r\n\r\n${name}`), PATIENCE);
      socket.destroy();
    }
    expect(seen).toEqual(["request", "continue"]);
  });
});
