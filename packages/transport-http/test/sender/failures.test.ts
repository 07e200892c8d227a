import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { BridgeError, type ErrorCode, type Sender } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { buildSender, envelope, never } from "../support/open-sender.ts";
import { targetServer } from "../support/target-server.ts";

async function failure(sender: Sender, signal: AbortSignal = never()): Promise<BridgeError> {
  const error: unknown = await sender.send(envelope(), "", signal).then(
    () => new Error("it was sent"),
    (thrown: unknown) => thrown,
  );
  if (!BridgeError.is(error)) throw new Error("not a BridgeError", { cause: error });
  return error;
}

/** A server below HTTP; `onSocket` plays it. */
async function tcpServer(onSocket: (socket: Socket) => void): Promise<AsyncDisposable & { readonly port: number }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    onSocket(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

const STATUSES: readonly (readonly [status: number, code: ErrorCode | undefined])[] = [
  [200, undefined],
  [201, undefined],
  [202, undefined],
  [204, undefined],
  [299, undefined],
  [300, "REJECTED"],
  [301, "REJECTED"],
  [304, "REJECTED"],
  [308, "REJECTED"],
  [400, "INVALID_PAYLOAD"],
  [401, "NOT_AUTHORIZED"],
  [402, "REJECTED"],
  [403, "FORBIDDEN"],
  [404, "DESTINATION_NOT_FOUND"],
  [405, "DESTINATION_NOT_FOUND"],
  [406, "REJECTED"],
  [407, "REJECTED"],
  [408, "TIMEOUT"],
  [409, "REJECTED"],
  [410, "DESTINATION_NOT_FOUND"],
  [413, "PAYLOAD_TOO_LARGE"],
  [415, "INVALID_PAYLOAD"],
  [418, "REJECTED"],
  [422, "SCHEMA_VIOLATION"],
  [425, "THROTTLED"],
  [429, "THROTTLED"],
  [431, "REJECTED"],
  [500, "UNAVAILABLE"],
  [501, "UNAVAILABLE"],
  [502, "UNAVAILABLE"],
  [503, "UNAVAILABLE"],
  [504, "UNAVAILABLE"],
  [599, "UNAVAILABLE"],
];

describe("an answer has a code (contract 5)", () => {
  test.for(STATUSES)("%i: %s", async ([status, code]) => {
    await using target = await targetServer((outgoing) => outgoing.writeHead(status).end());
    await using sender = await buildSender({ url: `${target.origin}/secret-path` });
    const sent = sender.send(envelope(), "", never());
    if (code === undefined) {
      await expect(sent).resolves.toBeUndefined();
    } else {
      await expect(sent).rejects.toMatchObject({ code, message: `${target.origin} answered ${status}` });
    }
  });

  test("a redirect is not followed", async () => {
    await using elsewhere = await targetServer();
    await using target = await targetServer((outgoing) =>
      outgoing.writeHead(307, { location: `${elsewhere.origin}/` }).end(),
    );
    await using sender = await buildSender({ url: target.origin });
    expect((await failure(sender)).code).toBe("REJECTED");
    expect(elsewhere.requests).toHaveLength(0);
  });

  test("informational answers are not the answer", async () => {
    await using target = await targetServer((outgoing) => {
      outgoing.writeEarlyHints({ link: "</a>; rel=preload" });
      outgoing.writeProcessing();
      outgoing.writeHead(503).end();
    });
    await using sender = await buildSender({ url: target.origin });
    expect((await failure(sender)).code).toBe("UNAVAILABLE");
  });
});

describe("Retry-After raises the next delay", () => {
  test.for([
    [429, "7", 7_000],
    [503, "0", 0],
    [503, " 12 ", 12_000],
    [425, "1", 1_000],
    [503, "999999999999", 3_600_000],
    [503, "soon", undefined],
    [503, "-5", undefined],
    [503, "Wed, 21 Oct 2015 07:28:00 GMT", 0],
    [503, undefined, undefined],
    [404, "7", undefined],
  ] as const)("%i with %j: %s", async ([status, value, expected]) => {
    await using target = await targetServer((outgoing) => {
      outgoing.writeHead(status, value === undefined ? {} : { "retry-after": value }).end();
    });
    await using sender = await buildSender({ url: target.origin });
    expect((await failure(sender)).retryAfterMs).toBe(expected);
  });

  test("as a date", async () => {
    const date = new Date(Date.now() + 120_000).toUTCString();
    await using target = await targetServer((outgoing) => outgoing.writeHead(503, { "retry-after": date }).end());
    await using sender = await buildSender({ url: target.origin });
    const { retryAfterMs = 0 } = await failure(sender);
    expect(retryAfterMs).toBeGreaterThan(60_000);
    expect(retryAfterMs).toBeLessThanOrEqual(120_000);
  });
});

describe("without an answer it is CONNECTION_LOST (contract 5)", () => {
  test("a refused connection", async () => {
    const server = await tcpServer(() => {});
    await server[Symbol.asyncDispose]();
    await using sender = await buildSender({ url: `http://127.0.0.1:${server.port}` });
    const error = await failure(sender);
    expect(error).toMatchObject({ code: "CONNECTION_LOST", class: "transient", charged: true });
    expect(error.message).toBe(`no response from http://127.0.0.1:${server.port}: ECONNREFUSED`);
  });

  test("a name without an address", async () => {
    await using sender = await buildSender({ url: "http://bridge.invalid" });
    expect((await failure(sender)).code).toBe("CONNECTION_LOST");
  });

  test.for<[string, (socket: Socket) => void]>([
    ["closed", (socket) => socket.end()],
    ["reset", (socket) => socket.resetAndDestroy()],
    ["cut in the header", (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Le")],
    ["cut after an informational answer", (socket) => socket.end("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")],
    ["no HTTP", (socket) => socket.end("220 mail.example ESMTP\r\n")],
  ])("a connection that is %s", async ([, play]) => {
    await using server = await tcpServer((socket) => socket.on("data", () => play(socket)));
    await using sender = await buildSender({ url: `http://127.0.0.1:${server.port}` });
    expect((await failure(sender)).code).toBe("CONNECTION_LOST");
  });

  test("TLS that fails", async () => {
    await using target = await targetServer();
    await using sender = await buildSender({ url: `https://127.0.0.1:${target.port}` });
    expect((await failure(sender)).code).toBe("CONNECTION_LOST");
  });

  test("a connection that is not made within connect_timeout, TLS included", async () => {
    await using server = await tcpServer(() => {});
    await using sender = await buildSender({ url: `https://127.0.0.1:${server.port}`, connect_timeout: "50ms" });
    expect((await failure(sender)).message).toContain("UND_ERR_CONNECT_TIMEOUT");
  });

  test("a sender that is disposed, which is not charged", async () => {
    await using target = await targetServer();
    const sender = await buildSender({ url: target.origin });
    await sender[Symbol.asyncDispose]();
    expect(await failure(sender)).toMatchObject({ code: "CONNECTION_LOST", charged: false });
  });
});

describe("the rest of a response", () => {
  test("is read, so that its connection is used again", async () => {
    await using target = await targetServer((outgoing) => outgoing.writeHead(200).end("x".repeat(30_000)));
    await using sender = await buildSender({ url: target.origin });
    for (let i = 0; i < 20; i++) await sender.send(envelope(), "", never());
    // A second one is opened when a send begins in the moment in which the first is not yet free again.
    expect(target.connections).toBeLessThanOrEqual(2);
  });

  test("is given up when it does not end; the status counts", async () => {
    await using target = await targetServer((outgoing) => {
      outgoing.writeHead(200);
      const more = (): void => {
        while (outgoing.write("x".repeat(1_024)));
      };
      outgoing.on("drain", more);
      more();
    });
    await using sender = await buildSender({ url: target.origin });
    await sender.send(envelope(), "", never());
    await expect.poll(() => sender.counters?.()["connections"]).toBe(0);
  });

  test("is cut: the status counts", async () => {
    const answer = "HTTP/1.1 422 No\r\nContent-Length: 10\r\n\r\nabc";
    await using server = await tcpServer((socket) => socket.on("data", () => socket.end(answer)));
    await using sender = await buildSender({ url: `http://127.0.0.1:${server.port}` });
    expect((await failure(sender)).code).toBe("SCHEMA_VIOLATION");
  });
});

describe("a send that is given up", () => {
  test("ends its request", async () => {
    const hungUp = Promise.withResolvers<void>();
    await using target = await targetServer((_outgoing, _request, incoming) =>
      incoming.socket.on("close", () => hungUp.resolve()),
    );
    await using sender = await buildSender({ url: target.origin });
    const controller = new AbortController();
    const sent = sender.send(envelope(), "", controller.signal);
    await target.request(1);
    const reason = new Error("given up");
    controller.abort(reason);
    await expect(sent).rejects.toBe(reason);
    await hungUp.promise;
  });

  test("while it waits for a connection, is never sent", async () => {
    let release: (() => void) | undefined;
    await using target = await targetServer((outgoing) => (release = () => outgoing.writeHead(200).end()));
    await using sender = await buildSender({ url: target.origin, max_connections: 1 });
    const first = sender.send(envelope({ id: "first" }), "", never());
    await target.request(1);
    const controller = new AbortController();
    const second = sender.send(envelope({ id: "second" }), "", controller.signal);
    const third = sender.send(envelope({ id: "third" }), "", never());
    expect(sender.counters?.()).toMatchObject({ connections: 1, queued: 2 });
    controller.abort(new Error("given up"));
    await expect(second).rejects.toThrow("given up");
    release?.();
    await first;
    expect((await target.request(2)).headers["idempotency-key"]).toBe("third");
    release?.();
    await third;
    expect(target.requests).toHaveLength(2);
  });

  test("before it began, opens nothing", async () => {
    await using target = await targetServer();
    await using sender = await buildSender({ url: target.origin });
    await expect(sender.send(envelope(), "", AbortSignal.abort(new Error("given up")))).rejects.toThrow("given up");
    expect(sender.counters?.()).toMatchObject({ connections: 0 });
    expect(target.connections).toBe(0);
  });
});
