import { PATIENCE } from "@bridge/tooling/patience";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { httpSource } from "../../src/load/http-source.ts";
import { Ledger } from "../../src/load/ledger.ts";

afterEach(() => vi.useRealTimers());

/** A web service that takes connections, and answers when it is told to. */
async function service() {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.resume().on("error", () => {}))).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await once(server.close(), "close");
    },
  };
}

describe("the source of HTTP", () => {
  it("replaces the connections that have rested for long, and no others", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    await using web = await service();
    const ledger = new Ledger(13);
    const source = await httpSource({ port: web.port, path: "/", connections: 2 }, ledger, () => {});
    await vi.waitUntil(() => web.sockets.length === 2, PATIENCE);
    vi.advanceTimersByTime(2_000);
    await source.renew?.();
    source.send();
    vi.advanceTimersByTime(2_000);
    await source.renew?.();
    await vi.waitUntil(() => web.sockets.length === 3, PATIENCE);
    await vi.waitUntil(() => web.sockets.filter(({ closed }) => closed).length === 1, PATIENCE);
    expect(ledger.outstanding).toBe(1);
  });

  it("takes an answer that nobody asked for as no answer to a message", async () => {
    await using web = await service();
    const ledger = new Ledger(13);
    const source = await httpSource({ port: web.port, path: "/", connections: 1 }, ledger, () => {});
    await vi.waitUntil(() => web.sockets.length === 1, PATIENCE);
    source.send();
    const answered = Promise.withResolvers<void>();
    web.sockets[0]?.write("HTTP/1.1 503 Service Unavailable\r\n\r\nHTTP/1.1 408 Request Timeout\r\n\r\n", () =>
      answered.resolve(),
    );
    await answered.promise;
    await vi.waitUntil(() => source.room, PATIENCE);
    expect(ledger.balance()).toEqual({ sent: 1, lost: 0, duplicated: 0, refused: 1 });
  });
});
