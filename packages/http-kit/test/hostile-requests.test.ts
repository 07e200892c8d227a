import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KEY, openEndpoint, rawExchange, startServer, type TestServer, thingEndpoints } from "./server.ts";

const latin1 = (max: number) =>
  fc.array(fc.integer({ min: 0x20, max: 0xff }), { maxLength: max }).map((codes) => String.fromCharCode(...codes));
const token = fc.stringMatching(/^[A-Za-z][\w-]{0,20}$/);
const path = fc.oneof(
  latin1(60).map((text) => `/${text.replaceAll(/\s/g, "+")}`),
  latin1(40).map((text) => `/api/v1/admin/things/${text.replaceAll(/\s/g, "%20")}`),
  latin1(40).map((text) => `/api/v1/admin/things/1?limit=${text.replaceAll(/\s/g, "+")}`),
  fc.constantFrom("*", "http://[/", "//x/..//", "/%", "/api/v1/admin/things/%00", "/api/v1/admin/things"),
);
const header = fc.tuple(
  fc.oneof(token, fc.constantFrom("X-API-Key", "Authorization", "Origin", "X-Forwarded-For", "X-Correlation-ID")),
  fc.oneof(latin1(80), fc.constantFrom(KEY, `Bearer ${KEY}`)),
);
const body = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.json().map((text) => new TextEncoder().encode(text)),
  fc
    .record({ names: fc.json().map((text) => JSON.parse(text) as unknown) })
    .map((value) => new TextEncoder().encode(JSON.stringify(value))),
);

describe("quality 4: hostile requests", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ endpoints: [...thingEndpoints(), openEndpoint], throttle: { limit: 1_000_000 } });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it("are always answered, as JSON, and never with an internal error", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.constantFrom("GET", "POST", "HEAD", "OPTIONS", "DELETE", "TRACE", "QUERY"), token),
        path,
        fc.array(header, { maxLength: 8 }),
        body,
        fc.boolean(),
        async (method, target, headers, bytes, keyed) => {
          const lines = [
            `${method} ${target} HTTP/1.1`,
            "Host: x",
            "Connection: close",
            `Content-Length: ${bytes.length}`,
            ...(keyed ? [`X-API-Key: ${KEY}`] : []),
            ...headers.map(([name, value]) => `${name}: ${value}`),
          ];
          const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
          const answer = await rawExchange(server.port, Buffer.concat([head, bytes]));
          expect(answer).toMatch(/^HTTP\/1\.1 [24]\d\d /);
          const [answerHead = "", text = ""] = answer.split("\r\n\r\n");
          expect(answerHead.toLowerCase()).toContain("x-content-type-options: nosniff");
          if (text !== "" && !answerHead.includes("text/plain")) JSON.parse(dechunked(answerHead, text));
        },
      ),
      { numRuns: 400 },
    );
    expect(server.errors).toEqual([]);
  }, 60_000);
});

function dechunked(head: string, text: string): string {
  return /transfer-encoding: chunked/i.test(head) ? text.replaceAll(/(?:^|\r\n)[0-9a-f]+\r\n/g, "") : text;
}
