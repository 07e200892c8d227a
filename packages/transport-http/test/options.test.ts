import { describe, expect, test } from "vitest";
import { httpTransport } from "../src/http-transport.ts";

const { receiver, sender } = httpTransport();
const KEY = "0123456789abcdef";

interface Outcome {
  readonly value?: unknown;
  readonly problems: readonly string[];
}

async function parse(factory: typeof receiver | typeof sender, options: unknown): Promise<Outcome> {
  const result = await factory?.options["~standard"].validate(options);
  if (result?.issues === undefined) return { value: result?.value, problems: [] };
  return {
    problems: result.issues.map(({ path = [], message }) => {
      const keys = path.map((part) => (typeof part === "object" ? part.key : part));
      return `${keys.join(".")}: ${message}`;
    }),
  };
}

describe("options of a receiver (contract 8)", () => {
  test("have defaults", async () => {
    expect((await parse(receiver, {})).value).toEqual({
      addr: "127.0.0.1:8082",
      allow_anonymous: false,
      max_body: 1_048_576,
      response_timeout: 30_000,
    });
  });

  test.for([
    { addr: "localhost:8082" },
    { addr: "127.8.7.6:80" },
    { addr: "[::1]:8082" },
    { addr: ":8082", api_key: KEY },
    { addr: "0.0.0.0:8082", api_key: KEY },
    { addr: "bridge.example:8082", allow_anonymous: true },
    { path: "/" },
    { path: "/a/b.c" },
    { max_body: 1, response_timeout: "250ms" },
  ])("%o are accepted", async (options) => {
    expect((await parse(receiver, options)).problems).toEqual([]);
  });

  test.for([
    [{ addr: ":8082" }, /^addr: .*api_key.*allow_anonymous/],
    [{ addr: "0.0.0.0:8082" }, /^addr: .*api_key/],
    [{ addr: "[::]:8082" }, /^addr: .*api_key/],
    [{ addr: "localhost.example:8082" }, /^addr: .*api_key/],
    [{ addr: "8082" }, /^addr: not an address/],
    [{ addr: "127.0.0.1" }, /^addr: not an address/],
    [{ addr: "127.0.0.1:65536" }, /^addr: not an address/],
    [{ addr: "::1:8082" }, /^addr: not an address/],
    [{ addr: "[::g]:8082" }, /^addr: not an address/],
    [{ addr: "http://127.0.0.1:8082" }, /^addr: not an address/],
    [{ api_key: "short" }, /^api_key: .*16/],
    [{ api_key: "" }, /^api_key: .*16/],
    [{ path: "ingest" }, /^path: not a path/],
    [{ path: "/ingest/" }, /^path: not a path/],
    [{ path: "/a//b" }, /^path: not a path/],
    [{ path: "/a?b" }, /^path: not a path/],
    [{ path: "/a/../b" }, /^path: .*segments/],
    [{ max_body: 0 }, /^max_body/],
    [{ max_body: "1MiB" }, /^max_body/],
    [{ response_timeout: 30 }, /^response_timeout/],
    [{ response_timeout: "0s" }, /^response_timeout/],
    [{ allow_anonymous: "yes" }, /^allow_anonymous/],
    [{ key: "x" }, /^key/],
  ] as const)("%o are refused", async ([options, problem]) => {
    const { problems } = await parse(receiver, options);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
  });
});

describe("options of a sender (contract 8)", () => {
  const url = "https://target.example/base";

  test("have defaults", async () => {
    expect((await parse(sender, { url })).value).toEqual({
      url,
      method: "POST",
      headers: {},
      allowed_origins: [],
      max_connections: 128,
      connect_timeout: 10_000,
    });
  });

  test.for([
    { method: "PUT" },
    { api_key: "k", bearer: "t" },
    { headers: { Authorization: "Basic abc", "X-Empty": "" } },
    { allowed_origins: ["https://other.example", "http://10.0.0.1:8080", "HTTPS://Other.Example/"] },
    { url: "http://[::1]:8080/x?sig=1" },
  ])("%o are accepted", async (options) => {
    expect((await parse(sender, { url, ...options })).problems).toEqual([]);
  });

  test.for([
    [{ url: "" }, /^url/],
    [{ url: "target.example" }, /^url/],
    [{ url: "ftp://target.example" }, /^url/],
    [{ url: "https:target.example" }, /^url/],
    [{ url: "https://user:pw@target.example" }, /^url: .*user part/],
    [{ url: "https://target.example/#a" }, /^url/],
    [{ url: "https://target.example/{device}" }, /^url: .*placeholder/],
    [{ method: "GET" }, /^method/],
    [{ bearer: "a\r\nb: c" }, /^bearer/],
    [{ api_key: "" }, /^api_key/],
    [{ headers: { "bad name": "1" } }, /^headers\.bad name: not a header name/],
    [{ headers: { "X-A": "1\r\n2" } }, /^headers\.X-A: its value/],
    [{ headers: { "Content-Length": "1" } }, /^headers\.Content-Length: is set by the bridge/],
    [{ headers: { "idempotency-key": "1" } }, /^headers\.idempotency-key: is set by the bridge/],
    [{ headers: { "X-Bridge.Dedup-Id": "1" } }, /^headers\.X-Bridge\.Dedup-Id: .*belong/],
    [{ headers: { "X-A": "1", "x-a": "2" } }, /^headers\.x-a: is given twice/],
    [{ bearer: "t", headers: { authorization: "Basic a" } }, /^headers\.authorization: is given twice/],
    [{ allowed_origins: ["https://other.example/path"] }, /^allowed_origins\.0: not an origin/],
    [{ allowed_origins: ["*"] }, /^allowed_origins\.0: not an origin/],
    [{ allowed_origins: ["https://*.example"] }, /^allowed_origins\.0: not an origin/],
    [
      { allowed_origins: Array.from({ length: 33 }, (_, i) => `https://a${i}.example`) },
      /^allowed_origins: at most 32/,
    ],
    [{ max_connections: 0 }, /^max_connections/],
    [{ connect_timeout: "0s" }, /^connect_timeout/],
    [{ tls: { cert_file: "a.crt" } }, /^tls\.cert_file: goes with key_file/],
    [{ tls: { reject_unauthorized: false } }, /^tls\.reject_unauthorized/],
    [{ url: "http://target.example", tls: { ca_file: "ca.crt" } }, /^tls: has no effect without an https URL/],
  ] as const)("%o are refused", async ([options, problem]) => {
    const { problems } = await parse(sender, { url, ...options });
    expect(problems.length).toBeGreaterThan(0);
    expect(problems[0]).toMatch(problem);
  });
});

test("no error shows a secret", async () => {
  const canary = "canary\u0001secret";
  const refused = [
    await parse(receiver, { api_key: canary.slice(0, 13) }),
    await parse(receiver, { api_key: [canary] }),
    await parse(sender, { url: `https://user:${canary}@target.example` }),
    await parse(sender, { url: "https://a.example", bearer: canary, api_key: canary, headers: { "X-A": canary } }),
  ];
  for (const { problems } of refused) {
    expect(problems).not.toEqual([]);
    expect(problems.join()).not.toContain("canary");
  }
});
