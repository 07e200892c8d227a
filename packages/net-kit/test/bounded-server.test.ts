import { PATIENCE } from "@bridge/tooling/patience";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { certificates } from "@bridge/tooling/certificates";
import { describe, expect, it, vi } from "vitest";
import { dial, ended, open } from "./support.ts";

const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

/** A server with the platform's one beneath it, which only a request leads to. */
async function openWithPlatform(
  take = (_: IncomingMessage, outgoing: ServerResponse): void => void outgoing.end("ok"),
) {
  let platform: Server | undefined;
  const server = await open({
    take(incoming, outgoing) {
      platform ??= (incoming.socket as Socket & { readonly server: Server }).server;
      take(incoming, outgoing);
    },
  });
  const { socket } = await dial(server.port, GET);
  await vi.waitFor(() => expect(platform).toBeDefined(), PATIENCE);
  socket.destroy();
  await vi.waitFor(() => expect(server.stats().connections).toBe(0), PATIENCE);
  if (platform === undefined) throw new Error("no request has come");
  return Object.assign(server, { platform });
}

describe("a listener", () => {
  it("listens on the host that it is given, and on no other", async () => {
    await using server = await open();
    expect(server.address).toMatchObject({ address: "127.0.0.1", family: "IPv4" });
  });

  it("tells of its own faults, keeps none to itself, and goes on", async () => {
    await using server = await openWithPlatform();
    const fault = new Error("too many open files");
    expect(() => server.platform.emit("error", fault)).toThrow(fault);
    const told: Error[] = [];
    server.onFault((error) => told.push(error));
    server.platform.emit("error", fault);
    expect(told).toEqual([fault]);
    const { socket, received } = await dial(server.port, GET);
    await vi.waitFor(() => expect(received()).toContain("ok"), PATIENCE);
    socket.destroy();
  });

  it.each([false, true])("has numbers of TLS only with TLS: %s", async (secure) => {
    using made = certificates("server");
    const tls = secure ? { certFile: made.path("server.crt"), keyFile: made.path("server.key") } : undefined;
    await using server = await open({ tls });
    expect("tls" in server.stats()).toBe(secure);
  });

  it("counts as out of time only what was not complete in time", async () => {
    await using patient = await open();
    const malformed = await dial(patient.port, "no request\r\n\r\n");
    await ended(malformed.socket);
    expect(malformed.received()).toMatch(/^HTTP\/1\.1 400 /);
    expect(patient.stats().connectionsTimedOut).toBe(0);
    await using hasty = await open({ limits: { headerTimeoutMs: 50, requestTimeoutMs: 50 } });
    const slow = await dial(hasty.port, "GET / HTTP/1.1\r\n");
    await ended(slow.socket);
    expect(slow.received()).toMatch(/^HTTP\/1\.1 408 /);
    expect(hasty.stats().connectionsTimedOut).toBe(1);
  });
});

describe("a listener that closes", () => {
  it("ends connections over which nothing was sent, and answers a request of which a part has come", async () => {
    const server = await openWithPlatform();
    const accepted: Socket[] = [];
    server.platform.on("connection", (socket: Socket) => accepted.push(socket));
    const silent = await dial(server.port);
    const begun = await dial(server.port, GET.slice(0, 20));
    await vi.waitFor(() => expect(accepted.map(({ bytesRead }) => bytesRead)).toEqual([0, 20]), PATIENCE);
    const closed = server.close(new AbortController().signal);
    await ended(silent.socket);
    begun.socket.write(GET.slice(20));
    await Promise.all([closed, ended(begun.socket)]);
    expect([silent.received(), begun.received()]).toEqual(["", expect.stringMatching(/^HTTP\/1\.1 200 [^]*ok$/)]);
  });

  it("waits for no handshake", async () => {
    using made = certificates("server");
    const tls = { certFile: made.path("server.crt"), keyFile: made.path("server.key") };
    const server = await open({ tls });
    const { socket } = await dial(server.port, "\u0016");
    await vi.waitFor(() => expect(server.stats().connections).toBe(1), PATIENCE);
    // The end may come as a reset, which `once` would reject with.
    const over = new Promise((resolve) => socket.once("close", resolve));
    await Promise.all([server.close(new AbortController().signal), over]);
  });
});
