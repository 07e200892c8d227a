import { describe, expect, test } from "vitest";
import { type OpenReceiver, openReceiver, openSmallReceiver, textOf } from "../support/open-receiver.ts";
import { RawConnection } from "../support/raw-connection.ts";

const KEY = "0123456789abcdef";

function post(url: string, headers: Readonly<Record<string, string>> = {}, body = "x"): Promise<Response> {
  return fetch(url, { method: "POST", headers, body });
}

/** What one request that a test writes is answered. */
async function raw(source: OpenReceiver, head: string, pattern = /\r\n\r\n/): Promise<string> {
  await using connection = await RawConnection.open(source.port);
  connection.write(head);
  return await connection.receives(pattern);
}

describe("path and method", () => {
  test("an unknown path is 404", async () => {
    await using source = await openReceiver({ path: "/ingest/in" });
    for (const path of ["/", "/ingest", "/ingest/other", "/ingest/info", "/INGEST/in"]) {
      const response = await post(`http://127.0.0.1:${source.port}${path}`);
      expect(response.status).toBe(404);
      expect(await response.json()).toEqual({ error: "not found" });
    }
  });

  test.for(["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"])("%s is 405, naming POST", async (method) => {
    await using source = await openReceiver();
    const response = await fetch(source.url, { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  });
});

test("CONNECT is 405, naming POST", async () => {
  await using source = await openReceiver();
  await using connection = await RawConnection.open(source.port);
  connection.write("CONNECT elsewhere:443 HTTP/1.1\r\nHost: elsewhere:443\r\n\r\n");
  expect(await connection.ends()).toMatch(/^HTTP\/1\.1 405 .*\r\nAllow: POST\r\n.*method not allowed/s);
});

test("an expectation other than 100-continue is 417, with the reason", async () => {
  await using source = await openReceiver();
  const messages = source.acceptAll();
  await using connection = await RawConnection.open(source.port);
  connection.write("POST /ingest/in HTTP/1.1\r\nHost: localhost\r\nExpect: 200-ok\r\nContent-Length: 1\r\n\r\nx");
  expect(await connection.ends()).toMatch(/^HTTP\/1\.1 417 .*100-continue/s);
  expect(messages).toEqual([]);
});

test.for(["gzip, chunked", "gzip,chunked", "deflate, chunked"])(
  "finding 6.12: Transfer-Encoding: %s is not taken for the message: 501",
  async (coding) => {
    await using source = await openReceiver();
    const messages = source.acceptAll();
    await using connection = await RawConnection.open(source.port);
    connection.write(
      `POST /ingest/in HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: ${coding}\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    );
    expect(await connection.ends()).toMatch(/^HTTP\/1\.1 501 .*only chunked is understood/s);
    expect(messages).toEqual([]);
  },
);

describe("finding 5.6: pages that are open on the machine cannot inject through a receiver without a key", () => {
  const send = async (port: number, head: string): Promise<string> => {
    await using caller = await RawConnection.open(port);
    caller.write(`POST ${head}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
    return (await caller.ends()).split("\r\n", 1)[0] ?? "";
  };

  test.for([
    ["/ingest/in HTTP/1.1\r\nHost: evil.example", 403],
    ["/ingest/in HTTP/1.1\r\nHost: localhost.evil.example:8082", 403],
    ["/ingest/in HTTP/1.1\r\nHost: 127.0.0.1.evil.example", 403],
    ["/ingest/in HTTP/1.1\r\nHost: 10.0.0.1", 403],
    ["/ingest/in HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example", 403],
    ["/ingest/in HTTP/1.1\r\nHost: localhost\r\nOrigin: null", 403],
    ["http://evil.example/ingest/in HTTP/1.1\r\nHost: localhost", 403],
    ["/ingest/in HTTP/1.1\r\nHost: LOCALHOST:8082", 202],
    ["/ingest/in HTTP/1.1\r\nHost: 127.0.0.1:8082\r\nOrigin: http://localhost:3000", 202],
    ["/ingest/in HTTP/1.1\r\nHost: [::1]:8082", 202],
    ["/ingest/in HTTP/1.0", 202],
  ] as const)("%s: %i", async ([head, status]) => {
    await using source = await openReceiver();
    const messages = source.acceptAll();
    expect(await send(source.port, head)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(messages).toHaveLength(status === 202 ? 1 : 0);
    expect(source.receiver.counters?.()).toMatchObject({ foreign: status === 202 ? 0 : 1 });
  });

  test.for([{ api_key: KEY }, { allow_anonymous: true }] as const)("unless it has %o", async (options) => {
    await using source = await openReceiver({ options });
    source.acceptAll();
    const head = `/ingest/in HTTP/1.1\r\nHost: bridge.example\r\nX-API-Key: ${KEY}`;
    expect(await send(source.port, head)).toMatch(/^HTTP\/1\.1 202 /);
  });
});

describe("the API key (contract 8, spec 5)", () => {
  test.for([
    ["none", {}],
    ["a wrong one", { "x-api-key": "0123456789abcdeX" }],
    ["a prefix", { "x-api-key": KEY.slice(0, -1) }],
    ["a longer one", { "x-api-key": `${KEY}0` }],
    ["an empty one", { "x-api-key": "" }],
    ["another scheme", { authorization: `Basic ${KEY}` }],
    ["a wrong bearer", { authorization: "Bearer 0123456789abcdeX" }],
    ["a wrong key beside a right bearer", { "x-api-key": "wrong", authorization: `Bearer ${KEY}` }],
  ] as const)("%s is 401", async ([, headers]) => {
    await using source = await openReceiver({ options: { api_key: KEY } });
    const messages = source.acceptAll();
    const response = await post(source.url, headers);
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe('Bearer realm="bridge-ingest"');
    expect(await response.json()).toEqual({ error: "invalid or missing API key" });
    expect(messages).toHaveLength(0);
    expect(source.receiver.counters?.()).toMatchObject({ unauthorized: 1 });
  });

  test.for([{ "x-api-key": KEY }, { authorization: `Bearer ${KEY}` }, { authorization: `bearer  ${KEY}` }] as const)(
    "is taken from %o",
    async (headers) => {
      await using source = await openReceiver({ options: { api_key: KEY } });
      const messages = source.acceptAll();
      expect((await post(source.url, headers)).status).toBe(202);
      expect(JSON.stringify(messages)).not.toContain(KEY);
    },
  );

  test("may hold characters beyond ASCII, sent as UTF-8", async () => {
    await using source = await openReceiver({ options: { api_key: "schlüssel-mit-umlaut" } });
    source.acceptAll();
    const key = Buffer.from("schlüssel-mit-umlaut", "utf8").toString("latin1");
    expect((await post(source.url, { "x-api-key": key })).status).toBe(202);
  });

  test("comes before the method and everything else", async () => {
    await using source = await openReceiver({ options: { api_key: KEY, max_body: 1 } });
    expect((await fetch(source.url)).status).toBe(401);
    expect((await post(source.url, { "x-expires-at": "never" }, "xx")).status).toBe(401);
  });
});

describe("size", () => {
  test("a body of max_body passes, a longer one is 413", async () => {
    await using source = await openReceiver({ options: { max_body: 100_000 } });
    const messages = source.acceptAll();
    expect((await post(source.url, {}, "x".repeat(100_000))).status).toBe(202);
    const response = await post(source.url, {}, "x".repeat(100_001));
    expect(response.status).toBe(413);
    expect(await response.json()).toEqual({ error: "request body too large" });
    expect(messages).toHaveLength(1);
  });

  test("a chunked body is 413 as soon as it is too long, and its connection can be used again", async () => {
    await using source = await openReceiver({ options: { max_body: 4 } });
    const messages = source.acceptAll();
    await using connection = await RawConnection.open(source.port);
    connection.write("POST /ingest/in HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n");
    await connection.receives(/HTTP\/1\.1 413/);
    connection.write("3\r\nfgh\r\n0\r\n\r\nPOST /ingest/in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nok");
    await connection.receives(/HTTP\/1\.1 202/);
    expect(messages.map(textOf)).toEqual(["ok"]);
    expect(source.receiver.counters?.()).toMatchObject({ waiting: 0, waitingBytes: 0 });
  });

  test("too many header fields are 431, and none is left out silently", async () => {
    await using source = await openReceiver();
    const messages = source.acceptAll();
    const fields = (count: number): string => Array.from({ length: count }, (_, i) => `h${i}: 1\r\n`).join("");
    const head = "POST /ingest/in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n";
    expect(await raw(source, `${head}${fields(254)}\r\n`)).toMatch(/^HTTP\/1\.1 202/);
    expect(Object.keys(messages[0]?.headers ?? {})).toHaveLength(254);
    expect(await raw(source, `${head}${fields(255)}\r\n`)).toMatch(/^HTTP\/1\.1 431/);
    expect(await raw(source, `${head}${fields(10_000)}\r\n`)).toMatch(/^HTTP\/1\.1 431/);
  });

  test("a header that is too long is 431", async () => {
    await using source = await openReceiver();
    const head = `POST /ingest/in HTTP/1.1\r\nHost: localhost\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`;
    expect(await raw(source, head)).toMatch(/^HTTP\/1\.1 431/);
  });
});

describe("requests that are none", () => {
  test.for([
    ["no HTTP", "hello\r\n\r\n"],
    ["a bad header line", "POST /ingest/in HTTP/1.1\r\nHost: localhost\r\nbad header\r\n\r\n"],
    ["no Host", "POST /ingest/in HTTP/1.1\r\nContent-Length: 0\r\n\r\n"],
    ["a Host with a path", "POST /ingest/in HTTP/1.1\r\nHost: localhost/b\r\nContent-Length: 0\r\n\r\n"],
    ["two lengths", "POST /ingest/in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx"],
    [
      "length and chunks",
      "POST /ingest/in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["a negative length", "POST /ingest/in HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n"],
  ])("%s is 400", async ([, request]) => {
    await using source = await openReceiver();
    const messages = source.acceptAll();
    expect(await raw(source, request ?? "")).toMatch(/^HTTP\/1\.1 400/);
    expect(messages).toHaveLength(0);
  });
});

describe("Expect: 100-continue", () => {
  const HEAD = "POST /ingest/in HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n";

  test("is answered before the body is read", async () => {
    await using source = await openReceiver();
    const messages = source.acceptAll();
    await using connection = await RawConnection.open(source.port);
    connection.write(`${HEAD}Content-Length: 5\r\n\r\n`);
    await connection.receives(/^HTTP\/1\.1 100 Continue\r\n\r\n/);
    connection.write("abcde");
    await connection.receives(/HTTP\/1\.1 202/);
    expect(messages.map(textOf)).toEqual(["abcde"]);
    expect(messages[0]?.headers).not.toHaveProperty("expect");
  });

  test.for([
    ["413", {}, "Content-Length: 11\r\n"],
    ["401", { api_key: KEY }, "Content-Length: 5\r\n"],
    ["400", {}, "Content-Length: 5\r\nX-Expires-At: never\r\n"],
  ] as const)("of a request that is refused asks for no body: %s", async ([status, options, fields]) => {
    await using source = await openReceiver({ options: { max_body: 10, ...options } });
    await using connection = await RawConnection.open(source.port);
    connection.write(`${HEAD}${fields}\r\n`);
    const answer = await connection.ends();
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} .*Connection: close\r\n`, "s"));
  });
});

describe("slow callers", () => {
  test("a body that does not arrive in time is 408", async () => {
    await using source = await openSmallReceiver({ responseTimeoutMs: 50 });
    await using connection = await RawConnection.open(source.port);
    connection.write("POST /ingest HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc");
    expect(await connection.ends()).toMatch(/^HTTP\/1\.1 408 .*Connection: close\r\n/s);
    expect(source.receiver.counters?.()).toMatchObject({ waiting: 0, waitingBytes: 0, unanswered: 0 });
  });

  test("so is a header", async () => {
    await using source = await openSmallReceiver({ headerTimeoutMs: 50, requestTimeoutMs: 50 });
    await using connection = await RawConnection.open(source.port);
    connection.write("POST /ingest HTTP/1.1\r\nHost:");
    expect(await connection.ends()).toMatch(/^HTTP\/1\.1 408/);
  });

  test("the rest of a body that was refused is not read for ever", async () => {
    await using source = await openSmallReceiver({ headerTimeoutMs: 50, requestTimeoutMs: 50 });
    await using connection = await RawConnection.open(source.port);
    connection.write("POST /elsewhere HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    expect(await connection.ends()).toMatch(/^HTTP\/1\.1 404/);
  });
});
