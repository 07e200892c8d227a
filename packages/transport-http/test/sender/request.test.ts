import { newHeaders, RESERVED } from "@bridge/ports";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { buildSender, envelope, never } from "../support/open-sender.ts";
import { type TargetRequest, type TargetServer, targetServer } from "../support/target-server.ts";

let target: TargetServer;

beforeEach(async () => {
  target = await targetServer();
});
afterEach(() => target[Symbol.asyncDispose]());

async function send(
  fields: Parameters<typeof envelope>[0] = {},
  options: Readonly<Record<string, unknown>> = {},
  address = "",
): Promise<TargetRequest> {
  await using sender = await buildSender({ url: target.origin, ...options });
  await sender.send(envelope(fields), address, never());
  return await target.request(1);
}

/** A header as its receiver reads it when it takes it for UTF-8. */
function utf8(value: unknown): string {
  return Buffer.from(String(value), "latin1").toString("utf8");
}

describe("a message becomes a request (contract 8)", () => {
  test.for(["__proto__", "constructor"])("a header named %s goes out, and so do the others", async (name) => {
    const headers = Object.assign(newHeaders(), { "x-a": "größe" });
    Object.defineProperty(headers, name, { value: "1", enumerable: true });
    const { rawHeaders } = await send({ headers });
    const sent = rawHeaders.filter((_, at) => at % 2 === 0).map((each, at) => [each, rawHeaders[at * 2 + 1]]);
    expect(sent).toContainEqual([name, "1"]);
    expect(sent.map(([each, value]) => [each, utf8(value)])).toContainEqual(["x-a", "größe"]);
  });

  test("payload, content type, id, correlation id and subject", async () => {
    const { method, url, headers, body } = await send({ payload: Uint8Array.of(0, 0xff, 0xc3, 0x28) });
    expect([method, url]).toEqual(["POST", "/"]);
    expect([...body]).toEqual([0, 0xff, 0xc3, 0x28]);
    expect(headers).toMatchObject({
      "content-type": "text/plain",
      "content-length": "4",
      "idempotency-key": "e-1",
      "x-correlation-id": "c-1",
      "x-subject": "line-1/temp",
    });
    expect(headers).not.toHaveProperty("x-ordering-key");
    expect(headers).not.toHaveProperty("x-expires-at");
  });

  test("a part of a larger buffer is sent alone", async () => {
    const { body } = await send({ payload: new Uint8Array(Buffer.from("abcdef").buffer, 0, 0) });
    expect(body).toHaveLength(0);
    await using sender = await buildSender({ url: target.origin });
    await sender.send(envelope({ payload: new TextEncoder().encode("abcdef").subarray(2, 4) }), "", never());
    expect((await target.request(2)).body.toString()).toBe("cd");
  });

  test("the deduplication id goes before the envelope id", async () => {
    const { headers } = await send({ headers: { [RESERVED.dedupId]: "d-1" } });
    expect(headers["idempotency-key"]).toBe("d-1");
  });

  test("ordering key and expiry", async () => {
    const { headers } = await send({ headers: { [RESERVED.orderingKey]: "o" }, expiresAt: Date.UTC(2031, 4, 6, 7) });
    expect(headers).toMatchObject({ "x-ordering-key": "o", "x-expires-at": "2031-05-06T07:00:00.000Z" });
  });

  test.for([-1, 253_402_300_800_000, 8.64e15 + 1, Number.NaN])(
    "an expiry that RFC 3339 cannot name is left out: %s",
    async (expiresAt) => {
      const { headers } = await send({ expiresAt });
      expect(headers).not.toHaveProperty("x-expires-at");
    },
  );

  test("what is empty is left out", async () => {
    const { headers } = await send({ subject: "", contentType: "" });
    expect(headers).not.toHaveProperty("x-subject");
    expect(headers).not.toHaveProperty("content-type");
  });

  test.for(["PUT", "PATCH"])("method %s", async (method) => {
    expect((await send({}, { method })).method).toBe(method);
  });

  test("api_key, bearer and headers", async () => {
    const options = { api_key: "the key", bearer: "the-token", headers: { "X-Tenant": "7", "Content-Type": "a/b" } };
    const { headers } = await send({}, options);
    expect(headers).toMatchObject({
      "x-api-key": "the key",
      authorization: "Bearer the-token",
      "x-tenant": "7",
      "content-type": "a/b",
    });
  });
});

describe("headers of the message", () => {
  test("are carried, reserved ones but the causation id left out", async () => {
    const { headers } = await send({
      headers: { "trace.id": "1", empty: "", [RESERVED.causationId]: "e-0", [RESERVED.generatedId]: "true" },
    });
    expect(headers).toMatchObject({ "trace.id": "1", empty: "", [RESERVED.causationId]: "e-0" });
    expect(Object.keys(headers).filter((name) => name.startsWith("x-bridge."))).toEqual([RESERVED.causationId]);
  });

  test("do not win over configured ones, nor over the protocol's own", async () => {
    const forged = {
      "x-tenant": "forged",
      authorization: "forged",
      "x-api-key": "forged",
      cookie: "forged",
      "proxy-authorization": "forged",
      host: "forged.example",
      "content-length": "1",
      "transfer-encoding": "chunked",
      connection: "close",
      "keep-alive": "timeout=1",
      upgrade: "h2c",
      te: "trailers",
      trailer: "a",
      expect: "100-continue",
      "content-type": "forged",
      "idempotency-key": "forged",
      "x-correlation-id": "forged",
      "x-subject": "forged",
      "x-ordering-key": "forged",
      "x-expires-at": "forged",
      "Idempotency-Key": "forged",
    };
    const { rawHeaders, body } = await send({ headers: { ...forged, fine: "yes" } }, { headers: { "X-Tenant": "7" } });
    expect(rawHeaders.join("\n")).not.toContain("forged");
    expect(rawHeaders).toContain("fine");
    expect(rawHeaders.filter((name) => name.toLowerCase() === "idempotency-key")).toHaveLength(1);
    expect(body.toString()).toBe("payload");
  });

  test("values are sent as UTF-8, control characters percent-encoded", async () => {
    const { headers, rawHeaders } = await send({
      id: "größe\n",
      subject: "東京/🚀",
      contentType: "text/plain\r\nX-Evil: 1",
      headers: { place: "Zürich", evil: "a\r\nX-Evil: 1\u0000\u007f", tab: "a\tb", lone: "\ud800" },
    });
    expect(utf8(headers["idempotency-key"])).toBe("größe%0A");
    expect(utf8(headers["x-subject"])).toBe("東京/🚀");
    expect(utf8(headers["place"])).toBe("Zürich");
    expect(headers["evil"]).toBe("a%0D%0AX-Evil: 1%00%7F");
    expect(headers["content-type"]).toBe("text/plain%0D%0AX-Evil: 1");
    expect(headers["tab"]).toBe("a\tb");
    expect(utf8(headers["lone"])).toBe("\ufffd");
    expect(rawHeaders.map((name) => name.toLowerCase())).not.toContain("x-evil");
  });

  test("finding 6.12: white space around a value stays here, as it is no part of it", async () => {
    const { rawHeaders } = await send({
      id: " \t a b\t",
      headers: { plain: "  x y ", far: " Zürich ", white: " \t " },
    });
    const sent = Object.fromEntries(
      rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name, rawHeaders[at + 1]]] : [])),
    );
    expect(sent).toMatchObject({ "idempotency-key": "a b", plain: "x y", white: "" });
    expect(utf8(sent["far"])).toBe("Zürich");
  });

  test("whose name HTTP cannot hold are dropped and counted", async () => {
    await using sender = await buildSender({ url: target.origin });
    const headers = { größe: "1", "a b": "1", "a:b": "1", "": "1", "a\r\nx-evil": "1", fine: "1" };
    await sender.send(envelope({ headers }), "", never());
    const { rawHeaders } = await target.request(1);
    expect(rawHeaders.map((name) => name.toLowerCase())).not.toContain("x-evil");
    expect(rawHeaders).toContain("fine");
    expect(sender.counters?.()).toMatchObject({ droppedHeaders: 5 });
  });
});

describe("where it goes", () => {
  test.for([
    ["", "", "/"],
    ["", "/ingest/d-1", "/ingest/d-1"],
    ["/base", "", "/base"],
    ["/base/", "", "/base/"],
    ["/base", "/a?b=c", "/base/a?b=c"],
    ["/base/", "a/b", "/base/a/b"],
    ["/base", "?b=c", "/base?b=c"],
    ["/base?key=1", "/a?b=c", "/base/a?key=1&b=c"],
    ["/base?key=1", "", "/base?key=1"],
    ["/base", "/größe/a%2Fb", "/base/gr%C3%B6%C3%9Fe/a%2Fb"],
  ])("url %j and address %j lead to %j", async ([path = "", address = "", expected]) => {
    expect((await send({}, { url: `${target.origin}${path}` }, address)).url).toBe(expected);
  });

  test("an absolute address of url's own origin", async () => {
    expect((await send({}, { url: `${target.origin}/base` }, `${target.origin}/other?a=b`)).url).toBe("/other?a=b");
  });

  test("an absolute address of an allowed origin", async () => {
    const options = { url: "http://127.0.0.1:1/never", allowed_origins: [target.origin], api_key: "k" };
    const { url, headers } = await send({}, options, `${target.origin}/other`);
    expect([url, headers["x-api-key"]]).toEqual(["/other", "k"]);
  });
});
