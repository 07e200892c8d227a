import { PATIENCE } from "@bridge/tooling/patience";
import { EventEmitter, once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { type Clock, systemClock } from "@bridge/ports";
import { certificates } from "@bridge/tooling/certificates";
import { describe, expect, it, vi } from "vitest";
import { ClientMemory } from "../src/client-memory.ts";
import { connectionOf } from "../src/connection.ts";
import { dial, ended, open } from "./support.ts";

const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const KIB = 1_024;
const MIB = 1_024 * KIB;

/** With a certificate of its own when `secure`; `attack` opens a connection that never reads. */
function place(secure: boolean) {
  const made = certificates("server");
  const tls = secure ? { certFile: made.path("server.crt"), keyFile: made.path("server.key") } : undefined;
  const attack = async (port: number, text: string): Promise<Socket> => {
    const host = "127.0.0.1";
    const socket = secure ? connectTls({ port, host, ca: made.authority.cert }) : connect(port, host);
    socket.on("error", () => {});
    await once(socket, secure ? "secureConnect" : "connect");
    socket.pause();
    socket.write(text);
    return socket;
  };
  return { tls, attack, [Symbol.dispose]: () => made[Symbol.dispose]() };
}

describe.each([false, true])("finding 5.1: clients that do not read (TLS: %s)", (secure) => {
  it("requests of one connection are worked on one after another, and all are answered in order", async () => {
    using own = place(secure);
    let atOnce = 0;
    let most = 0;
    let taken = 0;
    await using server = await open({
      tls: own.tls,
      take: (_, outgoing) => {
        most = Math.max(most, ++atOnce);
        const number = ++taken;
        outgoing.on("finish", () => atOnce--);
        setImmediate(() => outgoing.end(`<${number}>`));
      },
    });
    const socket = await own.attack(server.port, GET.repeat(500));
    let received = "";
    socket.on("data", (bytes: Buffer) => (received += bytes.toString("latin1")));
    socket.resume();
    await vi.waitFor(() => expect(received).toContain("<500>"), PATIENCE);
    expect([...received.matchAll(/<(\d+)>/g)].map(([, number]) => Number(number))).toEqual(
      Array.from({ length: 500 }, (_, index) => index + 1),
    );
    expect(most).toBe(1);
    socket.write(GET);
    await vi.waitFor(() => expect(received).toContain("<501>"), PATIENCE);
    socket.destroy();
  });

  it("what they leave behind unanswered fails without stacks, which nobody sees; other errors have theirs", async () => {
    using own = place(secure);
    const errors: Error[] = [];
    const requests = new EventEmitter();
    await using server = await open({
      tls: own.tls,
      take: (incoming) => {
        incoming.on("error", (error: Error) => errors.push(error));
        requests.emit("one");
      },
    });
    const taken = once(requests, "one");
    const socket = await own.attack(server.port, GET.repeat(3));
    await taken;
    await server[Symbol.asyncDispose]();
    await vi.waitFor(() => expect(errors).toHaveLength(1), PATIENCE);
    socket.destroy();
    expect(errors[0]?.stack).not.toContain("    at ");
    expect(new Error("of somebody else").stack).toContain("    at ");
  });

  it("40 of them leave what is kept below its bound, and others are answered", async () => {
    using own = place(secure);
    const bound = 4 * MIB;
    const memory = new ClientMemory(bound);
    const answers = new Set<ServerResponse>();
    let most = 0;
    const kept = (): number =>
      answers.values().reduce((sum, { socket }) => sum + (socket?.destroyed === false ? socket.writableLength : 0), 0);
    await using server = await open({
      tls: own.tls,
      memory,
      // So that nothing but the bound cuts them.
      limits: { answerTimeoutMs: 600_000 },
      take: (_, outgoing) => {
        answers.add(outgoing.on("close", () => answers.delete(outgoing)));
        outgoing.end("x".repeat(200 * KIB));
        most = Math.max(most, memory.bytes, kept());
      },
    });
    const flood = GET.repeat(5_000);
    const attackers = await Promise.all(Array.from({ length: 40 }, () => own.attack(server.port, flood)));
    await vi.waitFor(() => expect(server.stats().connections).toBeLessThan(20), PATIENCE);
    const polite = await own.attack(server.port, GET);
    let received = 0;
    polite.on("data", (bytes: Buffer) => (received += bytes.length));
    polite.resume();
    await vi.waitFor(() => expect(received).toBeGreaterThan(200 * KIB), PATIENCE);
    // One answer beyond the bound is written before it is counted.
    expect(most).toBeLessThanOrEqual(bound + 201 * KIB);
    for (const socket of [...attackers, polite]) socket.destroy();
    await vi.waitFor(() => expect([server.stats().connections, memory.bytes]).toEqual([0, 0]), PATIENCE);
  });

  it("one that takes nothing of its answer is cut after a while; one that takes it slowly is not", async () => {
    using own = place(secure);
    const part = "x".repeat(MIB);
    const answerTimeoutMs = 500;
    let now = 0;
    let look = (): void => {};
    const clock: Clock = {
      ...systemClock,
      monotonic: () => now,
      every(ms, tick) {
        if (ms === answerTimeoutMs) look = tick;
        return { [Symbol.dispose]: () => {} };
      },
    };
    const answers: ServerResponse[] = [];
    await using server = await open({
      tls: own.tls,
      clock,
      limits: { answerTimeoutMs },
      take: (_, outgoing) => {
        answers.push(outgoing);
        let left = 32;
        const more = (): void => {
          while (left > 0)
            if (left-- === 1) outgoing.end(part);
            else if (!outgoing.write(part)) return;
        };
        outgoing.on("drain", more);
        more();
      },
    });
    const mute = await own.attack(server.port, GET);
    await vi.waitFor(() => expect(answers).toHaveLength(1), PATIENCE);
    const slow = await own.attack(server.port, GET);
    await vi.waitFor(() => expect(answers).toHaveLength(2), PATIENCE);
    const taken = (): number => answers[1]?.socket?.bytesWritten ?? Infinity;
    let received = 0;
    let looks = 0;
    slow.on("data", (bytes: Buffer) => (received += bytes.length));
    // Between two looks it takes a part, however long that takes here.
    while (answers[1]?.writableFinished === false) {
      const before = taken();
      slow.resume();
      await vi.waitFor(
        () => expect(taken() > before || answers[1]?.writableFinished === true || slow.destroyed).toBe(true),
        { ...PATIENCE, interval: 1 },
      );
      slow.pause();
      now += answerTimeoutMs - 100;
      look();
      looks++;
    }
    expect(looks).toBeGreaterThan(5);
    slow.resume();
    await vi.waitFor(() => expect(received).toBeGreaterThan(32 * MIB), PATIENCE);
    await vi.waitFor(() => expect(server.stats()).toMatchObject({ connections: 1, connectionsCut: 1 }), PATIENCE);
    mute.destroy();
    slow.destroy();
  });
});

describe("finding 5.1: what is kept for clients", () => {
  it("a part of an answer counts when it is handed over, before the platform says so, until the answer has left", async () => {
    const memory = new ClientMemory(MIB);
    const kept: number[] = [];
    await using server = await open({
      memory,
      take: (_, outgoing) => {
        const connection = connectionOf(outgoing);
        connection?.expect(100 * KIB);
        kept.push(memory.bytes);
        connection?.expect(50 * KIB);
        kept.push(memory.bytes);
        outgoing.end("done");
      },
    });
    const { socket, received } = await dial(server.port, GET);
    await vi.waitFor(() => expect(received()).toContain("done"), PATIENCE);
    expect(kept).toEqual([100 * KIB, 50 * KIB]);
    await vi.waitFor(() => expect(memory.bytes).toBe(0), PATIENCE);
    expect(connectionOf(undefined)).toBeUndefined();
    socket.destroy();
  });

  it("an answer that is larger than the bound reaches its client", async () => {
    const memory = new ClientMemory(MIB);
    await using server = await open({ memory, take: (_, outgoing) => outgoing.end("x".repeat(32 * MIB)) });
    const { socket, received } = await dial(server.port, GET);
    await vi.waitFor(() => expect(received().length).toBeGreaterThan(32 * MIB), PATIENCE);
    socket.destroy();
  });

  it("connections that are reset in the middle leave nothing", async () => {
    const memory = new ClientMemory(16 * MIB);
    await using server = await open({ memory, take: (_, outgoing) => outgoing.end("x".repeat(MIB)) });
    for (let round = 0; round < 20; round++) {
      const socket = connect(server.port, "127.0.0.1");
      socket.on("error", () => {});
      await once(socket, "connect");
      socket.pause();
      socket.write(GET.repeat(100));
      await vi.waitFor(() => expect(server.stats().connections).toBe(1), PATIENCE);
      if (round % 2 === 0) await vi.waitFor(() => expect(memory.bytes).toBeGreaterThan(0), PATIENCE);
      socket.resetAndDestroy();
      await ended(socket);
      await vi.waitFor(() => expect([server.stats().connections, memory.bytes]).toEqual([0, 0]), PATIENCE);
    }
  });

  it("a connection makes room for a new one when its client does not take its answer", async () => {
    await using server = await open({
      limits: { connections: 2 },
      take: (_, outgoing) => outgoing.end("x".repeat(32 * MIB)),
    });
    const mute = await Promise.all([1, 2].map(() => dial(server.port)));
    for (const { socket } of mute) socket.pause().write(GET);
    await vi.waitFor(async () => {
      const { socket, received } = await dial(server.port, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
      await ended(socket);
      expect(received()).toContain("200 OK");
    }, PATIENCE);
    for (const { socket } of mute) socket.destroy();
  });
});
