import { type BridgeConfig, type BridgeDocument, formatProblem, parseConfig, validateConfig } from "../../src/index.ts";
import { registry } from "./plugins.ts";

export type Json = { [key: string]: unknown };

/** A document in which nothing is wrong and nothing is worth a warning; each call gives a new one. */
export function goodDocument(): Json {
  return {
    config_version: 3,
    bridge: { id: "plant-7" },
    stores: { dlq: { type: "file", options: { path: "dlq.db" } } },
    sessions: [{ id: "broker", transport: "mqtt", options: { broker_urls: ["mqtt://127.0.0.1:1883"] } }],
    receivers: [{ id: "in", session_id: "broker", topics: [{ topic: "s/#", qos: 1 }] }],
    senders: [{ id: "out", transport: "http", options: { url: "https://example.com" } }],
    bindings: [{ id: "to-out", sender_id: "out", session_id: "", address: "/ingest/{device}" }],
    processors: [{ id: "only-alarms", type: "filter" }],
    routes: [
      {
        id: "alarms",
        receiver_id: "in",
        processors: ["only-alarms"],
        resolver: { type: "rules", rules: [], default_binding: "to-out" },
        bindings: ["to-out"],
      },
    ],
  };
}

/** The good document with `value` at `path`, such as `routes.0.policy.jitter`; `undefined` removes what is there. */
export function withValue(path: string, value: unknown, document: Json = goodDocument()): Json {
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  let block: Json = document;
  for (const key of keys) block = (block[key] ??= {}) as Json;
  if (value === undefined) Reflect.deleteProperty(block, last);
  else block[last] = value;
  return document;
}

/** What becomes of a document, whatever it is. */
export function parsed(document: unknown): BridgeConfig {
  return parseConfig(document as BridgeDocument, registry);
}

/** All problems, as they are shown. */
export function problemsOf(document: unknown): readonly string[] {
  const result = validateConfig(document, registry);
  return result.ok ? [] : result.problems.map(formatProblem);
}

export function warningsOf(document: unknown): readonly string[] {
  return validateConfig(document, registry).warnings.map(formatProblem);
}
