import { newHeaders, type SourceMessage } from "@bridge/ports";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type OpenReceiver, openReceiver, textOf } from "../support/open-receiver.ts";
import { RawConnection } from "../support/raw-connection.ts";

describe("a request becomes a message (contract 8)", () => {
  let source: OpenReceiver;
  let messages: readonly SourceMessage[];

  beforeEach(async () => {
    source = await openReceiver();
    messages = source.acceptAll();
  });
  afterEach(() => source[Symbol.asyncDispose]());

  async function post(path: string, headers: Readonly<Record<string, string>> = {}, body = "payload"): Promise<number> {
    const response = await fetch(`${source.url}${path}`, { method: "POST", headers, body });
    await response.arrayBuffer();
    return response.status;
  }

  test("the body is the payload, Content-Type the content type", async () => {
    expect(await post("", { "content-type": "application/json" }, '{"a":1}')).toBe(202);
    expect(textOf(messages[0])).toBe('{"a":1}');
    expect(messages[0]?.contentType).toBe("application/json");
  });

  test("a request without a body has an empty payload", async () => {
    const response = await fetch(source.url, { method: "POST" });
    expect(response.status).toBe(202);
    expect(messages[0]?.payload).toHaveLength(0);
    expect(messages[0]?.contentType).toBeUndefined();
  });

  test("a chunked body is put together", async () => {
    await using connection = await RawConnection.open(source.port);
    connection.write("POST /ingest/in HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    connection.write("2\r\nde\r\n0\r\n\r\n");
    await connection.receives(/202 Accepted/);
    expect(textOf(messages[0])).toBe("abcde");
  });

  test.for([
    ["", {}, "in"],
    ["/", {}, "in"],
    ["/line-1/temp", {}, "line-1/temp"],
    ["/line%201/gr%C3%B6%C3%9Fe%2Fx", {}, "line 1/größe/x"],
    ["", { "x-subject": "line-1/temp" }, "line-1/temp"],
    ["/path", { "x-subject": "header" }, "path"],
    ["?x=1", {}, "in"],
    ["/path?x=1/2", {}, "path"],
  ] as const)("the subject of %s with %o is %s", async ([path, headers, subject]) => {
    expect(await post(path, headers)).toBe(202);
    expect(messages[0]?.subject).toBe(subject);
  });

  test.for(["/%", "/%zz", "/%ff"])("a path that is not percent-encoded UTF-8 is 400: %s", async (path) => {
    await using connection = await RawConnection.open(source.port);
    connection.write(`POST /ingest/in${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`);
    expect(await connection.receives(/error/)).toMatch(/^HTTP\/1\.1 400 .*path/s);
    expect(messages).toHaveLength(0);
  });

  test("an absolute request target is its path", async () => {
    await using connection = await RawConnection.open(source.port);
    connection.write("POST http://localhost/ingest/in/a?b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
    await connection.receives(/202 Accepted/);
    expect(messages[0]?.subject).toBe("a");
  });

  test("Idempotency-Key is the id and the deduplication id", async () => {
    await post("", { "idempotency-key": "k-1" });
    expect(messages[0]).toMatchObject({ id: "k-1", dedupId: "k-1" });
  });

  const noKey: readonly Readonly<Record<string, string>>[] = [{}, { "idempotency-key": "" }];
  test.for(noKey)("without a key there is no id: %o", async (headers) => {
    await post("", headers);
    expect(messages[0]?.id).toBeUndefined();
    expect(messages[0]?.dedupId).toBeUndefined();
  });

  test("correlation id, ordering key and expiry have headers of their own", async () => {
    const expires = "2031-05-06T07:08:09.250+02:00";
    await post("", { "x-correlation-id": "c", "x-ordering-key": "o", "x-expires-at": expires });
    expect(messages[0]).toMatchObject({ correlationId: "c", orderingKey: "o", expiresAt: Date.parse(expires) });
  });

  test.for(["tomorrow", "2031-05-06", "1893456000", "2031-02-30T00:00:00Z"])(
    "X-Expires-At %s is 400",
    async (value) => {
      expect(await post("", { "x-expires-at": value })).toBe(400);
      expect(messages).toHaveLength(0);
    },
  );

  test("other end-to-end headers are carried, in lower case", async () => {
    await post("", { "X-Trace.Id": "1", "User-Agent": "probe", Accept: "text/plain", empty: "" });
    expect(messages[0]?.headers).toMatchObject({
      "x-trace.id": "1",
      "user-agent": "probe",
      accept: "text/plain",
      empty: "",
    });
  });

  test("credentials, connection headers, the bridge's own and those it has read are not carried", async () => {
    await using connection = await RawConnection.open(source.port);
    connection.write(
      [
        "POST /ingest/in HTTP/1.1",
        "Host: localhost",
        "Content-Length: 0",
        "Connection: keep-alive, X-Hop",
        "X-Hop: 1",
        "Keep-Alive: timeout=5",
        "TE: trailers",
        "Authorization: Basic abc",
        "Proxy-Authorization: Basic abc",
        "Cookie: a=b",
        "Set-Cookie: a=b",
        "X-API-Key: 0123456789abcdef",
        "X-Bridge.Dedup-Id: forged",
        "x-BRIDGE.later: forged",
        "Content-Type: text/plain",
        "Idempotency-Key: k",
        "X-Correlation-ID: c",
        "X-Subject: s",
        "X-Ordering-Key: o",
        "X-Expires-At: 2031-05-06T07:08:09Z",
        "X-End: 2",
        "",
        "",
      ].join("\r\n"),
    );
    await connection.receives(/202 Accepted/);
    expect(messages[0]?.headers).toEqual({ "x-end": "2" });
  });

  test("a header that is repeated is joined", async () => {
    await using connection = await RawConnection.open(source.port);
    connection.write("POST /ingest/in HTTP/1.1\r\nHost: localhost\r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 0\r\n\r\n");
    await connection.receives(/202 Accepted/);
    expect(messages[0]?.headers?.["x-a"]).toBe("1, 2");
  });

  test("header values are UTF-8, and Latin-1 when they cannot be", async () => {
    await using connection = await RawConnection.open(source.port);
    const utf8 = Buffer.from("größe", "utf8").toString("latin1");
    connection.write(
      `POST /ingest/in HTTP/1.1\r\nHost: localhost\r\nX-Subject: ${utf8}\r\nX-A: ${utf8}\r\nX-B: gr\xf6\xdfe\r\nContent-Length: 0\r\n\r\n`,
    );
    await connection.receives(/202 Accepted/);
    expect(messages[0]?.subject).toBe("größe");
    expect(messages[0]?.headers).toMatchObject({ "x-a": "größe", "x-b": "größe" });
  });

  test.for([
    ["__proto__", "does not come in", undefined],
    ["constructor", "is a header like others", "1"],
    ["toString", "is a header like others", "1"],
  ] as const)("a header named %s %s, and harms none", async ([name, , value]) => {
    await using connection = await RawConnection.open(source.port);
    connection.write(
      `POST /ingest/in HTTP/1.1\r\nHost: localhost\r\n${name}: 1\r\nX-A: 2\r\nContent-Length: 0\r\n\r\n`,
    );
    await connection.receives(/202 Accepted/);
    const headers = messages[0]?.headers ?? {};
    const own = value === undefined ? { "x-a": "2" } : { "x-a": "2", [name.toLowerCase()]: value };
    expect(new Map(Object.entries(headers))).toEqual(new Map(Object.entries(own)));
    expect(Object.getPrototypeOf(messages[0]?.headers)).toBe(Object.getPrototypeOf(newHeaders()));
  });
});
