import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { request } from "node:https";
import { silentLogger, systemRandom } from "@bridge/ports";
import { certificates } from "@bridge/tooling/certificates";
import { describe, expect, it } from "vitest";
import { listen, type Listener } from "../src/index.ts";
import { parseListenAddress } from "../src/listen-address.ts";
import { startServer } from "./server.ts";

const seams = { logger: silentLogger, random: systemRandom() };
const soon = (): AbortSignal => AbortSignal.timeout(10_000);

/** Answers after `release` is called. */
function slowApp() {
  const gate = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  return {
    release: gate.resolve,
    entered: entered.promise,
    fetch: async (): Promise<Response> => {
      entered.resolve();
      await gate.promise;
      return new Response("done");
    },
  };
}

async function openSocket(listener: Listener, text = ""): Promise<Socket> {
  const socket = connect(listener.port, "127.0.0.1");
  await once(socket, "connect");
  socket.on("error", () => {});
  if (text !== "") socket.write(text);
  return socket;
}

describe("listen addresses", () => {
  it.each([
    [":8080", { host: undefined, port: 8080 }],
    ["127.0.0.1:0", { host: "127.0.0.1", port: 0 }],
    ["bridge.local:65535", { host: "bridge.local", port: 65_535 }],
    ["[::1]:8080", { host: "::1", port: 8080 }],
    ["[fe80::1%eth0]:8080", { host: "fe80::1%eth0", port: 8080 }],
  ])("%s", (addr, parsed) => {
    expect(parseListenAddress(addr)).toEqual(parsed);
  });

  it.each(["", "8080", ":", ":http", ":65536", "::1:8080", "[::1]", "a b:80", "http://x:80", "1.2.3.4:-1"])(
    "%j is refused with a remedy",
    (addr) => {
      expect(() => parseListenAddress(addr)).toThrow(/listen address .* is invalid: write ":8080"/);
    },
  );
});

describe("listen", () => {
  it("binds a free port, and every interface without a host", async () => {
    await using listener = await listen({ addr: ":0", app: { fetch: () => new Response("x") }, ...seams }, soon());
    expect(listener.url).toBe(`http://localhost:${listener.port}`);
    expect(await (await fetch(`http://127.0.0.1:${listener.port}/`)).text()).toBe("x");
  });

  it("names the address that is taken", async () => {
    await using server = await startServer();
    const addr = `127.0.0.1:${server.port}`;
    await expect(listen({ addr, app: slowApp(), ...seams }, soon())).rejects.toThrow(
      `cannot listen on ${addr}: listen EADDRINUSE`,
    );
  });

  it("gives up when its signal has aborted, and leaves nothing bound", async () => {
    const gone = AbortSignal.abort(new Error("shutting down"));
    await expect(listen({ addr: "127.0.0.1:0", app: slowApp(), ...seams }, gone)).rejects.toThrow("shutting down");
  });

  it("close waits for the answers under way and takes no new connection", async () => {
    const app = slowApp();
    const listener = await listen({ addr: "127.0.0.1:0", app, ...seams }, soon());
    const idle = await openSocket(listener);
    const answer = fetch(listener.url);
    await app.entered;
    const { url } = listener;
    const closed = listener.close(soon());
    await once(idle, "close");
    await expect(fetch(url)).rejects.toThrow("fetch failed");
    app.release();
    expect(await (await answer).text()).toBe("done");
    await closed;
  });

  it("a connection that was kept alive ends with the answer that was under way", async () => {
    const app = slowApp();
    const listener = await listen({ addr: "127.0.0.1:0", app, ...seams }, soon());
    const socket = await openSocket(listener, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    let text = "";
    socket.setEncoding("latin1").on("data", (part: string) => (text += part));
    await app.entered;
    const closed = listener.close(soon());
    const ended = once(socket, "close");
    app.release();
    await Promise.all([closed, ended]);
    expect(text).toContain("done");
  });

  it("close cuts what is left when its signal aborts, and every caller is told the same", async () => {
    const app = slowApp();
    const listener = await listen({ addr: "127.0.0.1:0", app, ...seams }, soon());
    const answer = fetch(listener.url);
    await app.entered;
    const deadline = new AbortController();
    const closes = [listener.close(deadline.signal), listener.close(soon())];
    deadline.abort();
    await Promise.all(closes);
    await expect(answer).rejects.toThrow("fetch failed");
    await listener[Symbol.asyncDispose]();
    app.release();
  });

  it("serves TLS from files, and nothing older than 1.2", async () => {
    using made = certificates("server");
    await using server = await startServer({
      tls: { certFile: made.path("server.crt"), keyFile: made.path("server.key") },
    });
    expect(server.url).toMatch(/^https:/);
    const status = (options: object): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        request(`${server.url}/`, { ca: made.authority.cert, agent: false, ...options }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on("error", reject)
          .end();
      });
    expect(await status({})).toBe(401);
    expect(await status({ maxVersion: "TLSv1.2" })).toBe(401);
    const old = { maxVersion: "TLSv1.1", minVersion: "TLSv1", ciphers: "DEFAULT@SECLEVEL=0" };
    await expect(status(old)).rejects.toThrow(/protocol|version/i);
  });

  it("names the TLS file that it cannot use, and what is wrong with it", async () => {
    using made = certificates("server", "other");
    const open = (certFile: string, keyFile: string): Promise<Listener> =>
      listen({ addr: "127.0.0.1:0", app: slowApp(), tls: { certFile, keyFile }, ...seams }, soon());
    const [cert, key, other] = ["server.crt", "server.key", "other.key"].map((file) => made.path(file)) as [
      string,
      string,
      string,
    ];
    await expect(open(cert, `${key}.missing`)).rejects.toThrow(
      `cannot listen on 127.0.0.1:0: ${key}.missing cannot be read: ENOENT`,
    );
    await expect(open(key, cert)).rejects.toThrow(`${key} holds no certificate in PEM form`);
    await expect(open(cert, cert)).rejects.toThrow(`${cert} holds no private key`);
    await expect(open(cert, other)).rejects.toThrow(`${other} does not belong to the certificate in "${cert}"`);
  });
});
