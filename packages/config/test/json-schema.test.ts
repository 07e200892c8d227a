import { Ajv, type ValidateFunction } from "ajv";
import { describe, expect, it } from "vitest";
import { configJsonSchema, createRegistry } from "../src/index.ts";
import { goodDocument, type Json, problemsOf, withValue } from "./support/documents.ts";
import { registry } from "./support/plugins.ts";

/** A validator that takes only what draft 7 knows, so that a misspelt keyword fails. */
function compile(schema: object): ValidateFunction {
  return new Ajv({ strictSchema: true, strictTypes: false, validateFormats: false, allErrors: true }).compile(schema);
}

const validate = compile(configJsonSchema(registry));

/** What the schema says against a document. */
function objections(document: unknown): readonly unknown[] {
  validate(document);
  return validate.errors ?? [];
}

/** Changes that validation accepts. */
const ACCEPTED: readonly (readonly [path: string, value: unknown])[] = [
  ["bridge.instance_id", ""],
  ["bridge.shutdown_timeout", "1m30.5s"],
  ["http", { admin_addr: "[::1]:80", cors_origins: "https://a.example", admin_api_key: "0123456789abcdef" }],
  ["audit", { file: { path: "a", max_bytes: 5000, keep: 3 } }],
  [
    "telemetry",
    { otlp: { endpoint: "https://otel.example.com", headers: { "x-key": "k" }, traces: { sample_ratio: 0.1 } } },
  ],
  ["stores.dlq", { type: "memory", options: { acknowledge_volatile: true } }],
  ["sessions.0.options.tls", { ca_file: "ca.pem" }],
  ["sessions.0.options.will", { topic: "t", qos: 1 }],
  ["sessions.0.options.will", "none"],
  ["receivers.0.transport", ""],
  ["receivers.0.transport", "mqtt"],
  ["routes.0.resolver", { type: "static", binding: "to-out" }],
  ["routes.0.resolver", { type: "static", binding: ["to-out"] }],
  ["routes.0.resolver", { type: "header_map", header: "kind", map: { "1": "to-out", x: ["to-out"] } }],
  ["routes.0.resolver.rules", [{ when: { field: "subject", op: "exists" }, binding: "to-out" }]],
  ["routes.0.resolver.rules", [{ when: [{ field: "$.a", op: "in", value: [1, "x"] }], binding: ["to-out"] }]],
  ["routes.0.policy", { replay_budget: "5m", backoff: { multiplier: 1.5, jitter: 0 } }],
];

/** Places that take a reference, though a plain string there has to be of a certain form. */
const REFERABLE: readonly string[] = [
  "bridge.id",
  "bridge.log_level",
  "bridge.drain_timeout",
  "http.admin_api_key",
  "stores.dlq.type",
  "sessions.0.transport",
  "sessions.0.options.keep_alive",
  "sessions.0.options.broker_urls.0",
  "routes.0.receiver_id",
  "routes.0.policy.on_expired",
];

const REFUSED: readonly (readonly [path: string, value: unknown])[] = [
  ["bridge", undefined],
  ["bridge.id", "a b"],
  ["bridge.idd", "a"],
  ["bridge.shutdown_timeout", 30],
  ["bridge.shutdown_timeout", "30"],
  ["bridge.log_level", "loud"],
  ["http", null],
  ["telemetry.otlp", { traces: { sample_ratio: 1.5 } }],
  ["telemetry.otlp", { headers: { key: 5 } }],
  ["stores.dlq.type", "redis"],
  ["stores.dlq.options.paht", "x"],
  ["sessions.0.transport", "http"],
  ["sessions.0.options", {}],
  ["sessions.0.options.keepalive", "5s"],
  ["sessions.0.options.keep_alive", 5],
  ["senders.0.options.retries", 6],
  ["senders.0.options", undefined],
  ["processors.0.type", "filtre"],
  ["routes.0.bindings", []],
  ["routes.0.resolver", { type: "static" }],
  ["routes.0.resolver", { type: "all", binding: "x" }],
  ["routes.0.resolver.rules", [{ when: { field: "subject", op: "gt", value: true }, binding: "to-out" }]],
  ["routes.0.policy.max_in_flight", 0],
  ["routes.0.policy.backoff.jitter", 2],
];

/** What the schema said nothing of, as the binary does. */
const CLOSED: readonly (readonly [path: string, value: unknown])[] = [
  ["bridge.drain_timeout", "0s"],
  ["bridge.drain_timeout", "9999999d"],
  ["http", { admin_addr: "localhost" }],
  ["http", { admin_api_key: "short" }],
  ["audit", { file: { path: "a", hmac_key: "short" } }],
  ["telemetry.otlp", { endpoint: "ftp://collector" }],
  ["receivers.0.options", { broadcast: true }],
  ["senders.1", { id: "over", session_id: "broker", options: { qos: 5 } }],
  ["stores.outbox", {}],
  ["stores.outbox", { abandon_backlog: false }],
];

describe("the JSON Schema for editors", () => {
  it.each(CLOSED)("finding 6.14: refuses %s: %j, as validation does", (path, value) => {
    expect(problemsOf(withValue(path, value))).not.toEqual([]);
    expect(objections(withValue(path, value))).not.toEqual([]);
  });

  it.each([
    ["stores.outbox", { abandon_backlog: true }],
    ["bridge.drain_timeout", "3650d"],
    ["bridge.drain_timeout", "315360000s"],
    ["http", { admin_addr: ":0", admin_api_key: "0123456789abcdef" }],
    ["senders.0.session_id", ""],
  ])("finding 6.14: accepts %s: %j, as validation does", (path, value) => {
    expect(problemsOf(withValue(path, value))).toEqual([]);
    expect(objections(withValue(path, value))).toEqual([]);
  });

  it("accepts the document that validation accepts", () => {
    expect(objections(goodDocument())).toEqual([]);
  });

  it.each(ACCEPTED)("accepts %s: %j, as validation does", (path, value) => {
    expect(problemsOf(withValue(path, value))).toEqual([]);
    expect(objections(withValue(path, value))).toEqual([]);
  });

  it.each(REFERABLE)("accepts a reference at %s", (path) => {
    expect(objections(withValue(path, "${env:X}"))).toEqual([]);
  });

  it.each(REFUSED)("refuses %s: %j, as validation does", (path, value) => {
    expect(problemsOf(withValue(path, value))).not.toEqual([]);
    expect(objections(withValue(path, value))).not.toEqual([]);
  });

  it("of a bridge without plugins leaves types and options open", () => {
    expect(compile(configJsonSchema(createRegistry({})))(goodDocument())).toBe(true);
  });

  it("describes every key, and marks secrets", () => {
    const schema = configJsonSchema(registry) as Json;
    expect([...undescribed(schema, "")]).toEqual([]);
    expect(JSON.stringify(schema)).toMatch(/"password":\{[^}]*"writeOnly":true/);
  });
});

/** The keys of blocks without a description. What is no block of its own only adds to one that is described elsewhere. */
function* undescribed(node: unknown, place: string): Generator<string> {
  if (typeof node !== "object" || node === null) return;
  const inUnion = /\.will\.anyOf\./.test(place);
  for (const [key, part] of Object.entries(node)) {
    if (key === "if") continue;
    if (key === "properties" && (node as Json)["type"] === "object" && !inUnion) {
      for (const [name, property] of Object.entries(part as Json))
        if ((property as Json)["description"] === undefined) yield `${place}.${name}`;
    }
    yield* undescribed(part, `${place}.${key}`);
  }
}
