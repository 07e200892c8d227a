import { PATIENCE } from "@bridge/tooling/patience";
import { getEventListeners, once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { type Clock, systemClock } from "@bridge/ports";
import { ManualClock } from "@bridge/tooling/manual-clock";
import { certificates } from "@bridge/tooling/certificates";
import { describe, expect, it, vi } from "vitest";
import { ClientMemory } from "../src/client-memory.ts";
import { dial, ended, hastyClock, open } from "./support.ts";

const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

/** Tells what still ticks. */
function countedClock(): Clock & { readonly ticking: () => number } {
  let ticking = 0;
  return {
    ...systemClock,
    every(ms, tick) {
      ticking++;
      const ticker = systemClock.every(ms, tick);
      let isOver = false;
      return {
        [Symbol.dispose]() {
          ticker[Symbol.dispose]();
          if (!isOver) ticking--;
          isOver = true;
        },
      };
    },
    ticking: () => ticking,
  };
}

describe("opening", () => {
  it("rejects with the platform's error when the address is taken, and leaves nothing behind", async () => {
    using made = certificates("server");
    await using first = await open();
    const clock = countedClock();
    const tls = { certFile: made.path("server.crt"), keyFile: made.path("server.key") };
    await expect(open({ port: first.port, clock, tls })).rejects.toMatchObject({ code: "EADDRINUSE" });
    expect(clock.ticking()).toBe(0);
  });

  it("without a host it listens on the named port of every interface", async () => {
    const { port } = await (async () => {
      await using probe = await open();
      return { port: probe.port };
    })();
    await using server = await open({ host: undefined, port });
    expect(server.address).toMatchObject({ address: "::", port });
    const { socket, received } = await dial(port, GET);
    await vi.waitFor(() => expect(received()).toContain("ok"), PATIENCE);
    socket.destroy();
  });

  it("a signal that is aborted ends it", async () => {
    const clock = countedClock();
    const opening = open({ clock }, AbortSignal.abort(new Error("no longer wanted")));
    await expect(opening).rejects.toThrow("no longer wanted");
    expect(clock.ticking()).toBe(0);
  });
});

describe("closing", () => {
  it.each([false, true])("leaves nothing that ticks, and no address (TLS: %s)", async (secure) => {
    using made = certificates("server");
    const clock = countedClock();
    const tls = secure ? { certFile: made.path("server.crt"), keyFile: made.path("server.key") } : undefined;
    const server = await open({ clock, tls });
    expect(clock.ticking()).toBe(secure ? 2 : 1);
    const { signal } = new AbortController();
    await server.close(signal);
    expect(clock.ticking()).toBe(0);
    expect(getEventListeners(signal, "abort")).toEqual([]);
    expect(() => server.address).toThrow("the listener is closed");
    await server.close(signal);
    await server[Symbol.asyncDispose]();
    expect(clock.ticking()).toBe(0);
  });

  it("waits for the answer under way, and ends its connection when that is out", async () => {
    const answers: ServerResponse[] = [];
    const server = await open({ take: (_, outgoing) => void answers.push(outgoing) });
    const { socket, received } = await dial(server.port, GET);
    await vi.waitFor(() => expect(answers).toHaveLength(1), PATIENCE);
    let isClosed = false;
    const closed = server.close(new AbortController().signal).then(() => (isClosed = true));
    const second = server.close(new AbortController().signal);
    const late = await dial(server.port).catch((error: NodeJS.ErrnoException) => error.code);
    expect([late, isClosed, socket.closed]).toEqual(["ECONNREFUSED", false, false]);
    answers[0]?.end("the answer");
    await Promise.all([closed, second, ended(socket)]);
    expect(received()).toContain("the answer");
  });

  it("answers none of the requests that wait behind the one under way, nor those that come then", async () => {
    const answers: ServerResponse[] = [];
    const server = await open({ take: (_, outgoing) => void answers.push(outgoing) });
    const { socket, received } = await dial(server.port, GET.repeat(100));
    await vi.waitFor(() => expect(answers).toHaveLength(1), PATIENCE);
    const closed = server.close(new AbortController().signal);
    socket.write(GET.repeat(100));
    answers[0]?.end("the answer");
    await Promise.all([closed, ended(socket)]);
    expect(answers).toHaveLength(1);
    expect(received().match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  it.each([false, true])("a client that is still reading gets all of its answer (TLS: %s)", async (secure) => {
    using made = certificates("server");
    const tls = secure ? { certFile: made.path("server.crt"), keyFile: made.path("server.key") } : undefined;
    const bytes = 64 * 1_048_576;
    const answers: ServerResponse[] = [];
    const memory = new ClientMemory(2 * bytes);
    const server = await open({ tls, memory, take: (_, outgoing) => void answers.push(outgoing) });
    const options = { host: "127.0.0.1", port: server.port };
    const socket = secure ? connectTls({ ...options, rejectUnauthorized: false }) : connect(options);
    await once(socket, secure ? "secureConnect" : "connect");
    socket.write(GET);
    await vi.waitFor(() => expect(answers).toHaveLength(1), PATIENCE);
    answers[0]?.end(Buffer.alloc(bytes));
    const closed = server.close(new AbortController().signal);
    let received = 0;
    for await (const part of socket as AsyncIterable<Buffer>) received += part.length;
    expect(received).toBeGreaterThan(bytes);
    await closed;
  });

  it("waits 5 s for a client that takes nothing of its answer, not as long as before it closed", async () => {
    const clock = new ManualClock();
    const answers: ServerResponse[] = [];
    const memory = new ClientMemory(128 * 1_048_576);
    const server = await open({ clock, memory, take: (_, outgoing) => void answers.push(outgoing) });
    const { socket } = await dial(server.port, GET);
    await vi.waitFor(() => expect(answers).toHaveLength(1), PATIENCE);
    socket.pause();
    answers[0]?.write(Buffer.alloc(64 * 1_048_576));
    let isClosed = false;
    const closed = server.close(new AbortController().signal).then(() => (isClosed = true));
    const taken = (): number | undefined => answers[0]?.req.socket.bytesWritten;
    // Until the system takes no more for it.
    for (let before = -1; before !== taken(); await new Promise((resolve) => setTimeout(resolve, 50)))
      before = taken() ?? 0;
    for (let second = 0; second < 5; second++) clock.advance(1_000);
    await new Promise(setImmediate);
    expect(isClosed).toBe(false);
    clock.advance(1_000);
    await closed;
    socket.destroy();
  });

  it("a disposal waits for no answer", async () => {
    const answers: ServerResponse[] = [];
    const server = await open({ clock: hastyClock, take: (_, outgoing) => void answers.push(outgoing) });
    const { socket } = await dial(server.port, GET);
    await vi.waitFor(() => expect(answers).toHaveLength(1), PATIENCE);
    await Promise.all([server[Symbol.asyncDispose](), ended(socket)]);
  });

  it("cuts what is left when its signal aborts", async () => {
    const answers: ServerResponse[] = [];
    const server = await open({ clock: hastyClock, take: (_, outgoing) => void answers.push(outgoing) });
    const { socket } = await dial(server.port, GET);
    await vi.waitFor(() => expect(answers).toHaveLength(1), PATIENCE);
    const patience = new AbortController();
    const closed = server.close(patience.signal);
    patience.abort();
    await Promise.all([closed, ended(socket)]);
    await expect.poll(() => server.stats().connections).toBe(0);
  });
});
