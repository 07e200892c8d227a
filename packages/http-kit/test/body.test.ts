import { once } from "node:events";
import { connect } from "node:net";
import { cpuTime } from "@bridge/tooling/cpu-time";
import { describe, expect, it } from "vitest";
import { MAX_BODY_BYTES } from "../src/body.ts";
import { KEY, rawExchange, startServer, type TestServer } from "./server.ts";

async function post(
  server: TestServer,
  body: Required<RequestInit>["body"],
  init: RequestInit = {},
): Promise<[number, { error?: string }]> {
  const response = await server.call("/api/v1/admin/things", { method: "POST", ...init, body });
  return [response.status, (await response.json()) as { error?: string }];
}

/** A body of `size` bytes that is valid JSON. */
function names(size: number): string {
  return `{"names":["${"x".repeat(size - 14)}"]}`;
}

describe("spec 8: a request body is limited to 1 MB", () => {
  it("one of exactly 1 MB is taken, one more byte is 413", async () => {
    await using server = await startServer();
    expect((await post(server, names(MAX_BODY_BYTES)))[0]).toBe(200);
    const refused = await server.announce("/api/v1/admin/things", MAX_BODY_BYTES + 1);
    expect(refused.status).toBe(413);
    expect(await refused.text()).toContain(String(MAX_BODY_BYTES));
  });

  it("an endless body does not keep the server busy", async () => {
    await using server = await startServer();
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536).fill(32));
      },
    });
    // A client that goes on sending sees the answer or the end of its connection, whichever it notices first.
    await post(server, endless, { duplex: "half" }).catch(() => undefined);
    expect(sent).toBeLessThan(100 * MAX_BODY_BYTES);
    expect((await post(server, '{"names":["a"]}'))[0]).toBe(200);
  });

  it("a chunked body over the limit is answered 413 while the client is still sending", async () => {
    await using server = await startServer();
    const socket = connect(server.port, "127.0.0.1");
    await once(socket, "connect");
    let answer = "";
    socket.setEncoding("latin1").on("data", (text: string) => (answer += text));
    const head = `POST /api/v1/admin/things HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const half = `80000\r\n${" ".repeat(0x80000)}\r\n`;
    socket.write(`${head}${half}${half}1\r\n \r\n`);
    await expect.poll(() => answer).toContain("HTTP/1.1 413");
    expect(answer).toContain('{"error":"request body too large');
    socket.destroy();
  });

  it("a length above the limit is refused before a byte of the body is there", async () => {
    await using server = await startServer();
    const socket = connect(server.port, "127.0.0.1");
    await once(socket, "connect");
    let answer = "";
    socket.setEncoding("latin1").on("data", (text: string) => (answer += text));
    socket.write(
      `POST /api/v1/admin/things HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\nContent-Length: 1048577\r\n\r\n`,
    );
    await expect.poll(() => answer).toContain("HTTP/1.1 413");
    socket.destroy();
  });

  it("holds where no body is asked for, too", async () => {
    await using server = await startServer();
    const poke = (body: string): Promise<Response> => server.call("/api/v1/admin/poke", { method: "POST", body });
    expect((await poke("")).status).toBe(200);
    expect((await poke("anything")).status).toBe(200);
    expect((await server.announce("/api/v1/admin/poke", MAX_BODY_BYTES + 1)).status).toBe(413);
  });

  it("a body that breaks off does no work and is no internal error", async () => {
    await using server = await startServer();
    const socket = connect(server.port, "127.0.0.1");
    await once(socket, "connect");
    socket.write(
      `POST /api/v1/admin/things HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\nContent-Length: 100\r\n\r\n{"na`,
    );
    socket.end();
    socket.destroySoon();
    await expect.poll(() => server.entries).toHaveLength(1);
    expect(server.entries[0]).toMatchObject({ action: "thing.write", outcome: "failure", detail: { status: 400 } });
    expect(server.errors).toEqual([]);
  });
});

describe("spec 7.1: strict bodies", () => {
  it.each([
    ["", "the JSON is not complete: it ends at column 1"],
    ["{", "the JSON is not complete: it ends at column 2"],
    ["names", "is no JSON at column 1"],
    ['{"names":["a"]} x', "is no JSON at column 17"],
    ['{\n "names": [secret]\n}', "is no JSON at line 2, column 12"],
    ["\uFEFF", "the JSON is not complete: it ends at column 1"],
    [new Uint8Array([0x22, 0xff, 0x22]), "is no UTF-8"],
  ])("contract 2: what is not JSON is 400 invalid request body, with the place: %j", async (body, problem) => {
    await using server = await startServer();
    expect(await post(server, body)).toEqual([400, { error: `invalid request body: ${problem}` }]);
  });

  it.each([
    ["null", "expected a JSON object"],
    ["[]", "expected a JSON object"],
    ['"x"', "expected a JSON object"],
    ["{}", "names: is missing"],
    ['{"names":"a"}', "names: expected Array (got a string)"],
    ['{"names":[]}', "names: must not be empty"],
    ['{"names":["a",5]}', "names[1]: expected string (got a number)"],
    ['{"names":[null]}', "names[0]: expected string (got null)"],
    ['{"names":[""]}', "names[0]: must not be empty"],
    ['{"names":["a"],"dry":"yes"}', 'dry: expected boolean (got "yes")'],
    ['{"names":["a"],"dry":null}', "dry: expected boolean (got null)"],
    ['{"names":["a"],"options":{}}', "options: unknown field"],
    ['{"names":["a"],"__proto__":{"dry":true}}', "__proto__: unknown field"],
    ['{"names":["a"],"constructor":1}', "constructor: unknown field"],
    ['{"names":["a"],"toString":1}', "toString: unknown field"],
    [`{"names":["a"],"${"k".repeat(100)}":1}`, `${"k".repeat(64)}…: unknown field`],
  ])("%s: %s", async (body, problem) => {
    await using server = await startServer();
    expect(await post(server, body)).toEqual([400, { error: `invalid request body: ${problem}` }]);
  });

  it("names up to five problems at once, each with what was sent", async () => {
    await using server = await startServer();
    const [status, { error }] = await post(server, JSON.stringify({ names: Array.from({ length: 9 }, () => 424_242) }));
    expect(status).toBe(400);
    expect(error?.match(/expected string/g)).toHaveLength(5);
    expect(error).toContain("and 4 more");
    expect(error?.match(/got a number/g)).toHaveLength(5);
  });

  it.each([
    ['{"names":["a"],"names":["b"]}', "names"],
    ['{"names":["a"], "dry" : true,"n\\u0061mes":["b"]}', "names"],
    ['{"names":[{"x":[],"y":{"z":1,"a\\"b":2,"a\\"b":3}}]}', 'a"b'],
    ['{"names":["a"],"__proto__":1,"__proto__":1}', "__proto__"],
    ['{"":1,"":1}', ""],
    [`{"${"k".repeat(100)}":1,"${"k".repeat(100)}":1}`, `${"k".repeat(64)}…`],
  ])("%s: a key that an object has twice is named", async (body, key) => {
    await using server = await startServer();
    expect(await post(server, body)).toEqual([400, { error: `invalid request body: the key "${key}" is given twice` }]);
  });

  it("keys of different objects, and texts that look like keys, are no repetition", async () => {
    await using server = await startServer();
    const texts = ['","names":"', "\\", "{", "names", "names"];
    expect((await post(server, JSON.stringify({ names: texts, dry: true })))[0]).toBe(200);
    const nested = JSON.stringify({ names: [{ a: { a: 1 }, b: [{ a: 1 }, { a: 1 }] }] });
    expect(await post(server, nested)).toEqual([
      400,
      { error: "invalid request body: names[0]: expected string (got an object)" },
    ]);
  });

  it("keys are looked at in time that grows with the body only", async () => {
    await using server = await startServer();
    const keys = Array.from({ length: 80_000 }, (_, n) => `"k${n}":0`).join();
    const spent = await cpuTime(async () => {
      expect((await post(server, `{${keys},"k7":1}`))[1].error).toContain('"k7" is given twice');
      expect((await post(server, `{"names":[${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}]}`))[0]).toBe(400);
    });
    expect(spent).toBeLessThan(10_000);
  });

  it("bodies nested a hundred thousand deep are refused, not crashed on", async () => {
    await using server = await startServer();
    expect((await post(server, "[".repeat(100_000)))[0]).toBe(400);
    expect((await post(server, `{"names":${"[".repeat(100_000)}${"]".repeat(100_000)}}`))[0]).toBe(400);
  });

  it("is JSON whatever the content type says", async () => {
    await using server = await startServer();
    const headers = { "X-API-Key": KEY, "Content-Type": "application/x-www-form-urlencoded" };
    expect((await post(server, '{"names":["a"]}', { headers }))[0]).toBe(200);
  });
});

describe("query parameters", () => {
  it("defaults, values and problems", async () => {
    await using server = await startServer();
    const get = async (query: string): Promise<unknown> => (await server.call(`/api/v1/admin/things/1${query}`)).json();
    expect(await get("")).toEqual({ id: "1", limit: 7 });
    expect(await get("?limit=3")).toEqual({ id: "1", limit: 3 });
    expect(await get("?limit=x")).toEqual({ error: 'invalid query: limit: expected an integer (got "x")' });
    expect(await get("?limit=1&limit=2")).toEqual({ error: "invalid query: limit: is given 2 times" });
  });

  it("what is no text is 400 by the name of its parameter, as it would match something else", async () => {
    await using server = await startServer();
    const get = async (query: string): Promise<unknown> =>
      (await server.call(`/api/v1/admin/things/1?${query}`)).json();
    const why = "a % has to begin two hexadecimal digits, of UTF-8: write %25 for itself";
    for (const value of ["%zz", "50%", "%F", "%FF", "%C3%28"])
      expect(await get(`limit=${value}`)).toEqual({ error: `invalid query: limit: ${why}` });
    expect(await get("%zz=1")).toEqual({ error: `invalid query: ${why}; %zz: unknown parameter` });
    expect(await get("limit=%33&&")).toEqual({ id: "1", limit: 3 });
  });

  it("finding 5.3: a parameter that the endpoint does not have is 400, on any endpoint and before any work", async () => {
    await using server = await startServer();
    const get = async (path: string): Promise<unknown> => (await server.call(path)).json();
    expect(await get("/api/v1/admin/things/1?limit=3&error_code=4&error_code=5&__proto__=1")).toEqual({
      error: "invalid query: error_code: unknown parameter; __proto__: unknown parameter",
    });
    expect(await get("/api/v1/openapi.json?x=1")).toEqual({ error: "invalid query: x: unknown parameter" });
    const poked = await server.call("/api/v1/admin/poke?force", { method: "POST" });
    expect([poked.status, await poked.json()]).toEqual([400, { error: "invalid query: force: unknown parameter" }]);
    const many = Array.from({ length: 20 }, (_, n) => `${"y".repeat(100)}${n}=1`).join("&");
    expect(JSON.stringify(await get(`/api/v1/admin/things/1?${many}`)).length).toBeLessThan(600);
  });

  it("path parameters are decoded", async () => {
    await using server = await startServer();
    expect(await (await server.call("/api/v1/admin/things/a%2Fb%20c")).json()).toEqual({ id: "a/b c", limit: 7 });
    expect((await server.call("/api/v1/admin/things/%ff")).status).toBe(200);
  });
});

describe("what never becomes a request", () => {
  it.each([
    ["not HTTP", "hello\r\n\r\n", 400],
    ["HTTP/1.1 without a host", "GET / HTTP/1.1\r\n\r\n", 400],
    ["a backslash in the path", "GET /a\\b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 400],
    ["a malformed host", "GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n", 400],
    ["a header that is too large", `GET / HTTP/1.1\r\nHost: x\r\nA: ${"x".repeat(20_000)}\r\n\r\n`, 431],
  ])("%s is answered as JSON with the common headers", async (_, request, status) => {
    await using server = await startServer();
    // The socket is ended by the server, or here for requests that keep it open.
    const answer = await rawExchange(
      server.port,
      request.replace("HTTP/1.1\r\n\r\n", "HTTP/1.1\r\nConnection: close\r\n\r\n"),
    );
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const [head = "", body = ""] = answer.split("\r\n\r\n");
    expect(JSON.parse(body)).toEqual({ error: expect.any(String) as string });
    for (const header of ["content-type: application/json", "x-frame-options: deny", "x-correlation-id: "])
      expect(head.toLowerCase()).toContain(header);
  });

  it("HTTP/1.0 needs no host: health checkers leave it out", async () => {
    await using server = await startServer();
    const answer = await rawExchange(server.port, `GET /api/v1/admin/things/1 HTTP/1.0\r\nX-API-Key: ${KEY}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
  });

  it.each([
    ["GET /api/v1/admin/things/1 HTTP/1.1\r\nHost: x\r\nExpect: miracles", 417],
    ["POST /api/v1/admin/things HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked", 501],
    ["CONNECT x:443 HTTP/1.1\r\nHost: x:443", 405],
  ])("spec 4.2: what no server does is refused, with the headers of every answer: %s", async (head, status) => {
    await using server = await startServer();
    const answer = await rawExchange(server.port, `${head}\r\nX-API-Key: ${KEY}\r\n\r\n`);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    for (const header of ["X-Frame-Options: DENY", "X-Correlation-ID: ", "Connection: close"])
      expect(answer).toContain(`\r\n${header}`);
    if (status === 405) expect(answer).toContain("\r\nAllow: GET, HEAD, POST\r\n");
  });
});
