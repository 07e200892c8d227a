import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { requestPath } from "../../src/receiver/request-path.ts";

function pathOf(url: string, headers: { readonly host?: string } = { host: "a" }): unknown {
  return requestPath({ url, headers } as IncomingMessage);
}

describe("the path of a request", () => {
  test.for([
    ["/", "/"],
    ["/ingest/in", "/ingest/in"],
    ["/ingest/in?a=1/2", "/ingest/in"],
    ["/ingest/in?a=\\", "/ingest/in"],
    ["/%zz/../a//b", "/%zz/../a//b"],
    ["http://other.example/ingest/in?a", "/ingest/in"],
    ["https://other.example", "/"],
  ])("of %s is %s", ([target, path]) => {
    expect(pathOf(target ?? "")).toBe(path);
  });

  test.for([
    "",
    "*",
    "ingest",
    "?a",
    "/a\\b",
    "http://",
    "http://a:70000/",
    "http://a/b\\c",
    "HTTP://a/b",
    "ftp://a/b",
  ])("%s has none", (target) => {
    expect(pathOf(target)).toEqual({ malformed: "the request target is no URL" });
  });

  test.for(["", "a", "A.b:443", "localhost:8082", "127.0.0.1:65535", "[::1]", "[::1]:80", "xn--4ca", "a_b"])(
    "Host may be %s",
    (host) => {
      expect(pathOf("/a", { host })).toBe("/a");
    },
  );

  test.for([
    "a/b",
    "a@b",
    "a b",
    "a?b",
    "a#b",
    "a\\b",
    "a:",
    "a:b",
    "a:65536",
    "a:1:2",
    "[::1",
    "::1",
    "%61",
    "ä",
    "[::1]x",
  ])("Host cannot be %s", (host) => {
    expect(pathOf("/a", { host })).toEqual({ malformed: "the Host header is no host" });
  });

  test("Host may be missing, as of a request of HTTP/1.0", () => {
    expect(pathOf("/a", {})).toBe("/a");
  });

  test("an absolute target makes Host meaningless", () => {
    expect(pathOf("http://other.example/a", { host: "a/b" })).toBe("/a");
  });
});
