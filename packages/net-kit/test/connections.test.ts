import { PATIENCE } from "@bridge/tooling/patience";
import { once } from "node:events";
import { connect as connectTls } from "node:tls";
import { certificates } from "@bridge/tooling/certificates";
import { describe, expect, it, vi } from "vitest";
import { dial, ended, open } from "./support.ts";

const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

describe("open connections are bounded", () => {
  it("a new one takes the place of the one that has been idle for longest", async () => {
    await using server = await open({ limits: { connections: 3 } });
    const first = await dial(server.port);
    const [second, third] = [await dial(server.port), await dial(server.port)];
    await vi.waitFor(() => expect(server.stats().connections).toBe(3), PATIENCE);
    first.socket.write(GET);
    await vi.waitFor(() => expect(first.received()).toContain("ok"), PATIENCE);
    const fourth = await dial(server.port, GET);
    await ended(second.socket);
    await vi.waitFor(() => expect(fourth.received()).toContain("ok"), PATIENCE);
    expect([first.socket.closed, third.socket.closed]).toEqual([false, false]);
    expect(server.stats()).toMatchObject({ connections: 3, connectionsEnded: 1, connectionsRefused: 0 });
    for (const { socket } of [first, third, fourth]) socket.destroy();
  });

  it("then of one whose request does not arrive; one that is being answered is never cut", async () => {
    const answers: (() => void)[] = [];
    await using server = await open({
      limits: { connections: 2 },
      take: (incoming, outgoing) => {
        incoming.resume();
        answers.push(() => outgoing.end("ok"));
      },
    });
    const waiting = await dial(server.port, GET);
    const slow = await dial(server.port, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
    await vi.waitFor(() => expect(answers).toHaveLength(2), PATIENCE);
    const next = await dial(server.port, GET);
    await ended(slow.socket);
    await vi.waitFor(() => expect(answers).toHaveLength(3), PATIENCE);
    const tooMany = await dial(server.port, GET);
    await ended(tooMany.socket);
    expect(server.stats()).toMatchObject({ connectionsEnded: 1, connectionsRefused: 1 });
    for (const answer of answers) answer();
    await vi.waitFor(() => expect([waiting.received(), next.received()].join()).toMatch(/ok.*ok/s), PATIENCE);
    for (const { socket } of [waiting, next]) socket.destroy();
  });

  it("connections that never finish their TLS handshake count too, and are ended first", async () => {
    using made = certificates("server");
    const tls = { certFile: made.path("server.crt"), keyFile: made.path("server.key") };
    await using server = await open({ tls, limits: { connections: 2 } });
    const mute = await dial(server.port);
    const secure = async () => {
      const socket = connectTls({ port: server.port, host: "127.0.0.1", ca: made.authority.cert });
      socket.on("error", () => {});
      await once(socket, "secureConnect");
      return socket;
    };
    const kept = await secure();
    const later = await secure();
    await ended(mute.socket);
    later.write(GET);
    expect(String(await once(later, "data"))).toContain("ok");
    expect(server.stats()).toMatchObject({ connections: 2, connectionsEnded: 1 });
    kept.destroy();
    later.destroy();
    await vi.waitFor(() => expect(server.stats().connections).toBe(0), PATIENCE);
  });
});

describe("closing", () => {
  it.each([false, true])("ends idle connections at once, used or not (TLS: %s)", async (secure) => {
    using made = certificates("server");
    const tls = secure ? { certFile: made.path("server.crt"), keyFile: made.path("server.key") } : undefined;
    const server = await open({ tls });
    const plain = await dial(server.port);
    const own = async () => {
      if (!secure) return (await dial(server.port)).socket;
      const socket = connectTls({ port: server.port, host: "127.0.0.1", ca: made.authority.cert });
      await once(socket, "secureConnect");
      return socket;
    };
    const [unused, used] = [await own(), await own()];
    used.write(GET);
    await once(used, "data");
    await server.close(new AbortController().signal);
    await Promise.all([plain.socket, unused, used].map(ended));
    expect(server.stats().connections).toBe(0);
  });
});

describe("requests that are none", () => {
  it.each([
    [400, "hello\r\n\r\n"],
    [431, `GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`],
    [431, `GET / HTTP/1.1\r\nHost: a\r\n${"h: 1\r\n".repeat(10_000)}\r\n`],
  ])("are answered %i as JSON, with the server's own headers", async (status, text) => {
    await using server = await open();
    const { socket, received } = await dial(server.port, text);
    await ended(socket);
    const answer = received();
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toContain("X-Own: yes");
    expect(Object.keys(JSON.parse(answer.split("\r\n\r\n")[1] ?? "") as object)).toEqual(["error"]);
  });

  it("garbage behind a request ends the connection, and is never taken for that request's answer", async () => {
    const answers: (() => void)[] = [];
    await using server = await open({ take: (_, outgoing) => void answers.push(() => outgoing.end("ok")) });
    const { socket, received } = await dial(server.port, `${GET}${"\0".repeat(64)}\r\n\r\n`);
    await ended(socket);
    for (const answer of answers) answer();
    expect([answers.length, received()]).toEqual([1, ""]);
  });

  it("a header that stays away ends the connection with 408", async () => {
    await using server = await open({ limits: { headerTimeoutMs: 50, requestTimeoutMs: 50 } });
    const { socket, received } = await dial(server.port, "GET / HTTP/1.1\r\nHost:");
    await ended(socket);
    expect(received()).toMatch(/^HTTP\/1\.1 408 /);
    expect(server.stats()).toMatchObject({ connectionsTimedOut: 1, connectionsCut: 0 });
  });

  it("half a request behind one that is being answered ends the connection too, is counted, and is no client that takes nothing", async () => {
    const answers: (() => void)[] = [];
    await using server = await open({
      limits: { headerTimeoutMs: 50, requestTimeoutMs: 50 },
      take: (_, outgoing) => void answers.push(() => outgoing.end("ok")),
    });
    const { socket, received } = await dial(server.port, `${GET}GET / HTTP/1.1\r\nHost:`);
    await ended(socket);
    expect([answers.length, received()]).toEqual([1, ""]);
    expect(server.stats()).toMatchObject({ connectionsTimedOut: 1, connectionsCut: 0 });
  });

  it("a body that stays away after its answer ends the connection, without a second answer", async () => {
    await using server = await open({ limits: { headerTimeoutMs: 50, requestTimeoutMs: 50 } });
    const head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc";
    const { socket, received } = await dial(server.port, head);
    await ended(socket);
    // On a machine that was busy all the while, the one answer is that it took too long.
    expect(received().match(/HTTP\/1\.1 (?:200|408)/g)).toHaveLength(1);
  });
});
