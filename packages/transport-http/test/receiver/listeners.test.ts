import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { authority } from "@bridge/tooling/certificates";
import { describe, expect, test } from "vitest";
import { type LogFields, silentLogger, systemClock } from "@bridge/ports";
import { httpTransport } from "../../src/http-transport.ts";
import { parseListenAddress } from "../../src/receiver/listen-address.ts";
import { Listeners } from "../../src/receiver/listeners.ts";
import { accept, buildReceiver, type OpenReceiver, openReceiver, openSmallReceiver } from "../support/open-receiver.ts";
import { RawConnection } from "../support/raw-connection.ts";

/** The status of a message sent to `path` of a source's listener. */
async function post(source: OpenReceiver, path: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${source.port}${path}`, { method: "POST", body: "x" });
  await response.arrayBuffer();
  return response.status;
}

describe("receivers of one address share a listener (contract 8)", () => {
  test("each has the requests of its path, the longest path first", async () => {
    const plugin = httpTransport();
    await using a = await openReceiver({ plugin, id: "a", path: "/in" });
    await using b = await openReceiver({ plugin, id: "b", path: "/in/deep" });
    await using c = await openReceiver({ plugin, id: "c", path: "/other" });
    expect(new Set([a.port, b.port, c.port]).size).toBe(1);
    const [ofA, ofB, ofC] = [a.acceptAll(), b.acceptAll(), c.acceptAll()];
    for (const path of ["/in", "/in/x", "/in/deep", "/in/deep/y", "/in/deeper", "/other"]) {
      expect(await post(a, path)).toBe(202);
    }
    expect(await post(a, "/otherwise")).toBe(404);
    expect(ofA.map(({ subject }) => subject)).toEqual(["a", "x", "deeper"]);
    expect(ofB.map(({ subject }) => subject)).toEqual(["b", "y"]);
    expect(ofC.map(({ subject }) => subject)).toEqual(["c"]);
  });

  test("/ takes everything that no other path does", async () => {
    const plugin = httpTransport();
    await using root = await openReceiver({ plugin, id: "root", path: "/" });
    await using other = await openReceiver({ plugin, id: "other", path: "/other" });
    const [ofRoot, ofOther] = [root.acceptAll(), other.acceptAll()];
    for (const path of ["/", "/a/b", "/other/c"]) expect(await post(root, path)).toBe(202);
    expect(ofRoot.map(({ subject }) => subject)).toEqual(["root", "a/b"]);
    expect(ofOther.map(({ subject }) => subject)).toEqual(["c"]);
  });

  test("a path with characters beyond ASCII is found as callers encode it", async () => {
    await using source = await openReceiver({ path: "/größe" });
    source.acceptAll();
    expect(await post(source, "/gr%C3%B6%C3%9Fe")).toBe(202);
  });

  test("one path cannot belong to two of them", async () => {
    const plugin = httpTransport();
    await using first = await openReceiver({ plugin, id: "first", path: "/same" });
    first.acceptAll();
    await expect(openReceiver({ plugin, id: "second", path: "/same" })).rejects.toThrow(
      'receiver "second": the path /same on 127.0.0.1:0 belongs to receiver "first" already',
    );
    expect(await post(first, "/same")).toBe(202);
  });

  test("the listener stays until the last of them is disposed; callers of the others come back", async () => {
    const plugin = httpTransport();
    const a = await openReceiver({ plugin, id: "a", path: "/a" });
    const b = await openReceiver({ plugin, id: "b", path: "/b" });
    b.acceptAll();
    await a[Symbol.asyncDispose]();
    expect(await post(b, "/a")).toBe(503);
    expect(await post(b, "/b")).toBe(202);
    await using again = await openReceiver({ plugin, id: "a", path: "/a" });
    again.acceptAll();
    expect(await post(b, "/a")).toBe(202);
    await again[Symbol.asyncDispose]();
    await b[Symbol.asyncDispose]();
    await expect(post(b, "/b")).rejects.toThrow("fetch failed");
  });
});

describe("a receiver that is to follow another, as in a change of its options", () => {
  const addr = "127.0.0.1:0";

  test("finds the listener open, and callers are asked to come back meanwhile", async () => {
    const plugin = httpTransport();
    const former = await openReceiver({ plugin, id: "a", path: "/a" });
    const next = await buildReceiver(plugin, "a", { addr, path: "/a", api_key: "a-key-for-the-receiver" });
    await former[Symbol.asyncDispose]();
    expect(await post(former, "/a")).toBe(503);
    await next.open?.(new AbortController().signal);
    expect(await post(former, "/a")).toBe(401);
    await next[Symbol.asyncDispose]();
    await expect(post(former, "/a")).rejects.toThrow("fetch failed");
  });

  test("leaves nothing of the former path", async () => {
    const plugin = httpTransport();
    const former = await openReceiver({ plugin, id: "a", path: "/a" });
    const next = await buildReceiver(plugin, "a", { addr, path: "/b" });
    await former[Symbol.asyncDispose]();
    await next.open?.(new AbortController().signal);
    expect(await post(former, "/a")).toBe(404);
    await next[Symbol.asyncDispose]();
  });

  test("does not keep the listener when it is given up, or cannot open", async () => {
    for (const open of [false, true]) {
      const plugin = httpTransport();
      const former = await openReceiver({ plugin, id: "a", path: "/a" });
      const next = await buildReceiver(plugin, "a", { addr, path: "/a" });
      await former[Symbol.asyncDispose]();
      expect(await post(former, "/a")).toBe(503);
      if (open) await expect(next.open?.(AbortSignal.abort(new Error("given up")))).rejects.toThrow("given up");
      await next[Symbol.asyncDispose]();
      await expect(post(former, "/a")).rejects.toThrow("fetch failed");
    }
  });

  test("may have other TLS files once the former is gone", async () => {
    const issuer = authority();
    const folder = mkdtempSync(join(tmpdir(), "bridge-listeners-"));
    const files = issuer.issue("localhost", ["localhost"]);
    const [cert_file, key_file] = [join(folder, "tls.crt"), join(folder, "tls.key")];
    writeFileSync(cert_file, files.cert);
    writeFileSync(key_file, files.key);
    const plugin = httpTransport();
    const former = await openReceiver({ plugin, id: "a", path: "/a" });
    const next = await buildReceiver(plugin, "a", { addr, path: "/a", tls: { cert_file, key_file } });
    await former[Symbol.asyncDispose]();
    await expect(next.open?.(new AbortController().signal)).resolves.toBeUndefined();
    await next[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });
});

describe("opening", () => {
  test("a port that is in use is an error with the address and a remedy", async () => {
    const blocker = createServer().listen(0, "127.0.0.1");
    await once(blocker, "listening");
    const addr = `127.0.0.1:${(blocker.address() as AddressInfo).port}`;
    const plugin = httpTransport();
    const receiver = await buildReceiver(plugin, "in", { addr });
    const { signal } = new AbortController();
    await expect(receiver.open?.(signal)).rejects.toThrow(`cannot listen on ${addr}: the address is in use`);
    blocker.close();
    await once(blocker, "close");
    await receiver.open?.(signal);
    await receiver[Symbol.asyncDispose]();
  });

  test("two transports in one process do not know each other", async () => {
    await using first = await openReceiver({ path: "/a" });
    first.acceptAll();
    const addr = `127.0.0.1:${first.port}`;
    await expect(openReceiver({ path: "/b", options: { addr } })).rejects.toThrow("the address is in use");
    expect(await post(first, "/a")).toBe(202);
  });

  test("an address of another machine is an error with a remedy", async () => {
    const options = { addr: "192.0.2.1:8082", allow_anonymous: true };
    await expect(openReceiver({ options })).rejects.toThrow("this machine has no such address");
  });

  test("building opens nothing, and disposing what was never open is nothing", async () => {
    const receiver = await buildReceiver(httpTransport(), "in", { addr: "127.0.0.1:1" });
    await expect(receiver[Symbol.asyncDispose]()).resolves.toBeUndefined();
  });

  test("a signal that has aborted opens nothing", async () => {
    const plugin = httpTransport();
    const receiver = await buildReceiver(plugin, "in", { addr: "127.0.0.1:0" });
    await expect(receiver.open?.(AbortSignal.abort(new Error("given up")))).rejects.toThrow("given up");
    await using source = await openReceiver({ plugin });
    source.acceptAll();
    expect(await post(source, "/ingest/in")).toBe(202);
  });

  test("does not wait for the last callers of a listener that is closing", async () => {
    const plugin = httpTransport();
    const first = await openReceiver({ plugin });
    await using slow = await RawConnection.open(first.port);
    slow.write("POST /elsewhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n\r\nabc");
    await slow.receives(/404/);
    const closing = first[Symbol.asyncDispose]();
    await using second = await openReceiver({ plugin, options: { addr: `127.0.0.1:${first.port}` } });
    second.acceptAll();
    expect(await post(second, "/ingest/in")).toBe(202);
    slow.write("def");
    await closing;
  });

  test("a receiver that is disposed while it opens does not stay open", async () => {
    const plugin = httpTransport();
    const receiver = await buildReceiver(plugin, "in", { addr: "127.0.0.1:0" });
    const opening = receiver.open?.(new AbortController().signal);
    await receiver[Symbol.asyncDispose]();
    await expect(opening).rejects.toThrow("was closed while it opened");
    await using source = await openReceiver({ plugin });
    source.acceptAll();
    expect(await post(source, "/ingest/in")).toBe(202);
  });
});

describe("closing", () => {
  test("idle connections do not hold it up, and the answers under way still go out", async () => {
    const source = await openSmallReceiver({ closeTimeoutMs: 600_000 });
    await using idle = await RawConnection.open(source.port);
    await using caller = await RawConnection.open(source.port);
    caller.write("POST /ingest HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
    await accept(await source.next());
    await source[Symbol.asyncDispose]();
    expect(await caller.ends()).toMatch(/^HTTP\/1\.1 202/);
    expect(await idle.ends()).toBe("");
  });

  test("a connection that becomes idle meanwhile is closed then", async () => {
    const source = await openSmallReceiver({ closeTimeoutMs: 600_000 });
    await using caller = await RawConnection.open(source.port);
    caller.write("POST /elsewhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n\r\nabc");
    await caller.receives(/404/);
    const closed = source[Symbol.asyncDispose]();
    caller.write("def");
    await closed;
    expect(await caller.ends()).toMatch(/^HTTP\/1\.1 404/);
  });

  test("a caller that does not end holds it up for no longer than its bound", async () => {
    const source = await openSmallReceiver({ closeTimeoutMs: 50 });
    await using caller = await RawConnection.open(source.port);
    caller.write("POST /ingest HTTP/1.1\r\nHo");
    await using other = await RawConnection.open(source.port);
    other.write("POST /elsewhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc");
    await other.receives(/404/);
    await source[Symbol.asyncDispose]();
    expect(await caller.ends()).toBe("");
    expect(await other.ends()).toMatch(/^HTTP\/1\.1 404/);
  });
});

test("a fault in what takes a request is answered 500 and logged; the listener goes on", async () => {
  const faults: unknown[] = [];
  const address = parseListenAddress("127.0.0.1:0");
  if (address === undefined) throw new Error("no address");
  const mount = {
    id: "in",
    handle(): void {
      throw new Error("a fault");
    },
  };
  const logger = { ...silentLogger, error: (message: string, fields?: LogFields) => faults.push([message, fields]) };
  const options = { address, path: "/in", mount, tls: undefined, clock: systemClock, logger };
  await using mounted = await new Listeners().mount(options, new AbortController().signal);
  for (const status of [500, 500]) {
    const response = await fetch(`http://127.0.0.1:${mounted.port}/in`, { method: "POST", body: "x" });
    expect([response.status, await response.json()]).toEqual([status, { error: "internal error" }]);
  }
  expect(faults[0]).toEqual(["HTTP request failed", { addr: "127.0.0.1:0", error: "Error: a fault" }]);
});
