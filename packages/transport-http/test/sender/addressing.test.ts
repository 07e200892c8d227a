import { BridgeError } from "@bridge/ports";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Destinations } from "../../src/sender/destinations.ts";
import { fillPlaceholder } from "../../src/sender/fill-placeholder.ts";
import { buildSender, envelope, never } from "../support/open-sender.ts";
import { targetServer } from "../support/target-server.ts";

/** What would have been sent, or `undefined` when the address was refused as it must be. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (BridgeError.is(error) && error.code === "BINDING_UNRESOLVED") return undefined;
    throw error;
  }
}

/** A template filled in as the engine does it: `{}` stands for a value. */
function fill(template: string, values: readonly string[]): string {
  const parts = template.split("{}");
  let before = parts[0] ?? "";
  let address = before;
  for (const [i, part] of parts.slice(1).entries()) {
    address += fillPlaceholder(values[i] ?? "", before) + part;
    before += `{}${part}`;
  }
  return address;
}

const FRAGMENTS = [
  "/",
  "//",
  "\\",
  "..",
  ".",
  "%2e",
  "%2E",
  "%2f",
  "%5c",
  "%00",
  "%",
  "@",
  ":",
  "?",
  "#",
  "&",
  "=",
  ";",
  " ",
  "\t",
  "\r\n",
  "\u0000",
  "http:",
  "https://",
  "javascript:",
  "evil.example",
  "user:pw@evil.example",
  "127.0.0.1",
  "[::1]",
  "．．",
  "／",
  "＠",
  "。",
  "\u2028",
  "\u00a0",
  "\ufeff",
  "\ud800",
  "ı",
  "K",
  "a",
  "A1-_.~",
  "{x}",
];

/** Headers as an attacker would choose them. */
const hostile = fc.oneof(
  fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 6 }).map((parts) => parts.join("")),
  fc.string({ unit: "binary", maxLength: 12 }),
);

const BASE = "https://target.example/base/path";

describe("placeholders (contract 8)", () => {
  test.for([
    ["/ingest/{}", "d 1", "/ingest/d%201"],
    ["/ingest/{}/x", "a/b?c#d", "/ingest/a%2Fb%3Fc%23d/x"],
    ["/{}-{}", "ü", "/%C3%BC-ü"],
    ["{}/x", "https://evil.example", "https%3A%2F%2Fevil.example/x"],
    ["?q={}", "a&b=..", "?q=a%26b%3D.."],
    ["/x?q={}", "", "/x?q="],
    ["https://target.example/{}", "a", "https://target.example/a"],
    ["https://target.example?q={}", "a", "https://target.example?q=a"],
  ])("%s with %j is %s", ([template = "", value = "", expected]) => {
    expect(fill(template, [value, "ü"]).replace("%C3%BC-%C3%BC", "%C3%BC-ü")).toBe(expected);
  });

  test.for(["", ".", "..", "a/..", "../a", "a/./b", "..\\a", "a\\..", "\ud800"])(
    "%j may not stand in a path",
    (value) => {
      expect(attempt(() => fill("/ingest/{}", [value]))).toBeUndefined();
    },
  );

  test.for([
    "{}://target.example/",
    "https:{}",
    "https:/{}",
    "https://{}/x",
    "https://{}.example/x",
    "https://target.example:{}/x",
    "https://{}@target.example/x",
    "//{}/x",
    "/x#{}",
  ])("%s leads nowhere", (template) => {
    expect(attempt(() => new Destinations(BASE, []).resolve(fill(template, ["target"])))).toBeUndefined();
  });

  test("an error names no value", () => {
    expect(() => fillPlaceholder("../secret", "/")).toThrow(expect.not.stringContaining("secret") as string);
    expect(() => new Destinations(BASE, []).resolve("https://secret.example/")).toThrow(
      expect.not.stringContaining("secret") as string,
    );
  });

  test("whatever a header holds, it is one segment or one part of the query", () => {
    const destinations = new Destinations(BASE, []);
    const templates = ["/in/{}/x", "/in/{}", "{}", "{}/x", "/a-{}", "https://target.example/base/path/in/{}"];
    fc.assert(
      fc.property(fc.constantFrom(...templates), hostile, (template, value) => {
        const sent = attempt(() => destinations.resolve(fill(template, [value])));
        if (sent === undefined) return;
        expect(sent.origin).toBe("https://target.example");
        const literal = destinations.resolve(template.replace("{}", "VALUE")).path;
        const segments = sent.path.split("/");
        expect(sent.path).toBe(literal.replace("VALUE", () => encodeURIComponent(value)));
        expect(segments).toHaveLength(literal.split("/").length);
        expect(segments.map(decodeURIComponent).join("/")).toBe(
          decodeURIComponent(literal).replace("VALUE", () => value),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  test("values beside each other cannot conspire", () => {
    const destinations = new Destinations(BASE, []);
    fc.assert(
      fc.property(
        fc.constantFrom("/{}{}", "/{}.{}/x", "/.{}{}", "{}{}{}"),
        fc.array(hostile, { minLength: 3, maxLength: 3 }),
        (template, values) => {
          const sent = attempt(() => destinations.resolve(fill(template, values)));
          if (sent === undefined) return;
          expect(sent.origin).toBe("https://target.example");
          expect(sent.path).toMatch(/^\/base\/path\/[^/?#]+(?:\/x)?$/);
          expect(new URL(sent.path, sent.origin).pathname).toBe(sent.path);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe("addresses (contract 8)", () => {
  test.for([
    "//evil.example/",
    "///evil.example/",
    "\\\\evil.example",
    "/\\evil.example",
    "https:\\\\evil.example",
    "https://evil.example/",
    "http://target.example/",
    "https://target.example:8443/",
    "https://target.example.evil.example/",
    "https://target.example@evil.example/",
    "https://user@target.example/",
    "https://user:pw@target.example/",
    "HTTPS://EVIL.EXAMPLE/",
    "https:/target.example/",
    "https:target.example",
    "https:///target.example",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "data:text/plain,x",
    "a:b",
    "/a/../b",
    "/a/..",
    "..",
    ".",
    "/%2e%2e/b",
    "/.%2E/b",
    "/a/%2e",
    "/a%2f..%2fb",
    "/a%5C..%5Cb",
    "https://target.example/base/path/../x",
    "https://target.example/%2e%2e/x",
    "/a b",
    " /a",
    "/a\t",
    "/a\r\nHost: evil.example",
    "/a\u0000",
    "/a#b",
    "\u00a0/a",
  ])("%j is refused", (address) => {
    expect(attempt(() => new Destinations(BASE, ["https://other.example"]).resolve(address))).toBeUndefined();
  });

  test.for([
    ["/@evil.example", "/base/path/@evil.example"],
    ["/:80", "/base/path/:80"],
    ["/a;b=c", "/base/path/a;b=c"],
    ["/．．/b", "/base/path/%EF%BC%8E%EF%BC%8E/b"],
    ["/...", "/base/path/..."],
    ["/a?b=../c", "/base/path/a?b=../c"],
    ["https://TARGET.example:443/x", "/x"],
    ["https://target.example", "/"],
  ])("%j stays where it belongs", ([address = "", path]) => {
    expect(new Destinations(BASE, []).resolve(address)).toEqual({ origin: "https://target.example", path });
  });

  test("whatever the address, the request stays below url or at an allowed origin", () => {
    const origins = ["https://target.example", "https://other.example:8443"];
    const destinations = new Destinations(BASE, [origins[1] ?? ""]);
    const start = fc.constantFrom(
      "",
      "/",
      "https://",
      "https://target.example",
      "https://other.example:8443",
      "HTTP://",
      "?",
    );
    fc.assert(
      fc.property(start, hostile, hostile, (prefix, a, b) => {
        const address = prefix + a + b;
        const sent = attempt(() => destinations.resolve(address));
        if (sent === undefined) return;
        expect(origins).toContain(sent.origin);
        expect(sent.path).toMatch(/^\/[!-~]*$/);
        // What a server makes of the path is what was checked.
        const read = new URL(sent.origin + sent.path);
        expect(read.pathname + read.search).toBe(sent.path);
        if (!/^https?:/i.test(address)) {
          expect(sent.origin).toBe(origins[0]);
          expect(`${sent.path.split("?", 1)[0]}/`).toMatch(/^\/base\/path\//);
        }
      }),
      { numRuns: 5_000 },
    );
  });

  test("are remembered while they are in use, and no more than a bounded number of them", () => {
    const destinations = new Destinations(BASE, []);
    const used = destinations.resolve("/used");
    const idle = destinations.resolve("/idle");
    for (let i = 0; i < 2_000; i++) {
      destinations.resolve(`/${i}`);
      expect(destinations.resolve("/used")).toBe(used);
    }
    const again = destinations.resolve("/idle");
    expect(again).not.toBe(idle);
    expect(again).toEqual(idle);
    const long = `/${"x".repeat(1_000)}`;
    expect(destinations.resolve(long)).not.toBe(destinations.resolve(long));
  });
});

test("over the wire: what a server gets is the value that was filled in, and nothing else", async () => {
  await using target = await targetServer();
  await using sender = await buildSender({ url: `${target.origin}/base` });
  const { addressing } = sender;
  await fc.assert(
    fc.asyncProperty(hostile, async (value) => {
      const filled = attempt(() => addressing?.fill(value, "/in/"));
      if (filled === undefined) return;
      await sender.send(
        envelope({ subject: value, headers: { evil: value } }),
        `/in/${filled}?q=${encodeURIComponent(value)}`,
        never(),
      );
      const { url, rawHeaders } = target.requests.at(-1)!;
      const [path = "", query = ""] = url.split("?");
      expect(decodeURIComponent(path.slice("/base/in/".length))).toBe(value);
      expect(path.split("/")).toHaveLength(4);
      expect(decodeURIComponent(query.slice(2))).toBe(value);
      const names = rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
      const known = [
        "host",
        "connection",
        "content-type",
        "content-length",
        "idempotency-key",
        "x-correlation-id",
        "x-subject",
        "evil",
      ];
      expect(names.filter((name) => !known.includes(name))).toEqual([]);
    }),
    { numRuns: 200 },
  );
});
