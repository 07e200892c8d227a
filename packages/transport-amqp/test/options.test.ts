import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { routingKeyProblem } from "../src/amqp-sender.ts";
import { parseBrokerUrl } from "../src/broker-url.ts";
import { receiverOptions, senderOptions, sessionOptions } from "../src/options.ts";
import { sender, session } from "./support/parts.ts";

const URL = { url: "amqp://host" };
const LONG = "ü".repeat(128);

function problems(options: unknown, schema: v.GenericSchema = sessionOptions): string[] {
  const { issues = [] } = v.safeParse(schema, options);
  return issues.map((issue) => `${v.getDotPath(issue) ?? ""}: ${issue.message}`);
}

test("options have the defaults that the README names", () => {
  expect(v.parse(sessionOptions, URL)).toEqual({
    ...URL,
    username: "guest",
    heartbeat: 10_000,
    connect_timeout: 10_000,
    max_message_bytes: 16_777_216,
  });
  expect(v.parse(receiverOptions, { queue: "q" })).toEqual({
    queue: "q",
    queue_type: "quorum",
    declare: false,
    retry: "hold",
  });
  expect(v.parse(senderOptions, {})).toEqual({ exchange: "", mandatory: true, persistent: true });
});

describe("session options", () => {
  test.each([
    [{}, /^url: .*"url"/],
    [{ url: "host:5672" }, /^url: expected "amqp:\/\/"/],
    [{ url: "//host" }, /^url: .*amqp:\/\/host:5672\/vhost/],
    [{ url: "amqp://user:pass@host" }, /^url: .*use username and password/],
    [{ url: "amqp://host/a/b" }, /^url: .*%2F/],
    [{ url: "amqp://host/%" }, /^url: .*percent-encoded/],
    [{ url: "amqp://host?heartbeat=5" }, /^url: .*use the options/],
    [{ ...URL, heartbeat: "0s" }, /^heartbeat: expected a duration from 1s/],
    [{ ...URL, connect_timeout: "2m" }, /^connect_timeout: expected a duration up to 55s/],
    [{ ...URL, tls: {} }, /^tls: has no effect/],
    [{ ...URL, username: "bridge" }, /^username: needs a password/],
    [{ ...URL, vhost: "x" }, /vhost/],
  ])("%j are refused", (options, problem) => {
    expect(problems(options)).toEqual([expect.stringMatching(problem)]);
  });

  test("show no password that stands in an address", () => {
    expect(problems({ url: "amqp://user:hunter22@host" }).join()).not.toContain("hunter22");
    expect(problems({ url: "http://user:hunter22@host" }).join()).not.toContain("hunter22");
  });
});

test.each([
  [receiverOptions, {}, /^queue: /],
  [receiverOptions, { queue: LONG }, /^queue: .*255 bytes/],
  [receiverOptions, { queue: "q", queue_type: "stream" }, /^queue_type: expected "quorum"/],
  [receiverOptions, { queue: "q", prefetch: 0 }, /^prefetch: expected an integer from 1/],
  [receiverOptions, { queue: "q", retry: "later" }, /^retry: expected "hold"/],
  [senderOptions, { exchange: LONG }, /^exchange: at most 255 bytes/],
  [senderOptions, { routing_key: "x" }, /routing_key/],
])("other options are refused (%#)", (schema, options, problem) => {
  expect(problems(options, schema)).toEqual([expect.stringMatching(problem)]);
});

test.each([
  ["amqp://host", { tls: false, host: "host", port: 5672, vhost: "", label: "amqp://host:5672" }],
  ["amqp://host:1/", { tls: false, host: "host", port: 1, vhost: "", label: "amqp://host:1" }],
  [
    "amqps://host/plant%2F1",
    { tls: true, host: "host", port: 5671, vhost: "plant%2F1", label: "amqps://host:5671/plant%2F1" },
  ],
  ["amqps://[::1]", { tls: true, host: "::1", port: 5671, vhost: "", label: "amqps://[::1]:5671" }],
])("the address %s", (text, parsed) => {
  expect(parseBrokerUrl(text)).toEqual(parsed);
});

test("finding 1.6: a value in an address holds no control character", () => {
  const { addressing } = sender(session({ role: "target" }));
  expect(addressing?.fill("eu.berlin/*#", "orders.")).toBe("eu.berlin/*#");
  for (const value of ["a\0", "a\r\nb", "\u0085"]) {
    expect(() => addressing?.fill(value, "")).toThrow(expect.objectContaining({ code: "BINDING_UNRESOLVED" }));
  }
});

test("an address that is no routing key", () => {
  expect(routingKeyProblem("orders.#")).toBeUndefined();
  expect(routingKeyProblem("")).toBeUndefined();
  expect(routingKeyProblem(LONG)).toMatch(/longer than 255 bytes/);
});
