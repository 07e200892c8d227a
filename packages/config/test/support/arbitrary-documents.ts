import fc from "fast-check";
import type { Json } from "./documents.ts";

/** What the references of an arbitrary document stand for, and what else must never be seen in one. */
const PLANTED = {
  KEY: "pLaNtEd-admin-key-1",
  ADDRESS: "pLaNtEd-address",
  CERT: "pLaNtEd-certificate.pem",
} as const;
/** In every secret there is, planted as a value or by a reference. */
export const CANARY = "pLaNtEd";

export const sources = {
  env: (name: string): string | undefined => (PLANTED as Readonly<Record<string, string>>)[name],
  file: (): Promise<string> => Promise.resolve(PLANTED.KEY),
};

const duration = fc
  .tuple(fc.integer({ min: 1, max: 99 }), fc.constantFrom("ms", "s", "m"))
  .map(([n, unit]) => `${n}${unit}`);
/** Any of these fields. */
const some = (fields: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<Json> =>
  fc.record(fields, { requiredKeys: [] });

const bridge = some({
  instance_id: fc.constantFrom("", "plant-7-a"),
  log_level: fc.constantFrom("debug", "info", "warn", "error"),
  shutdown_timeout: duration,
  drain_timeout: duration,
  quiesce_timeout: duration,
}).map((rest) => ({ id: "plant-7", ...rest }));

const key = fc.constantFrom("", "pLaNtEd-key-0123456789", "${env:KEY}", "${file:key}");
const http = some({
  admin_addr: fc.constantFrom(":8080", "127.0.0.1:9000"),
  admin_api_key: key,
  monitor_api_key: key,
  cors_origins: fc.constantFrom("", "https://ops.example.com"),
}).chain((rest) =>
  fc
    .constantFrom({}, { tls_cert_file: "${env:CERT}", tls_key_file: "$${env:none}.pem" })
    .map((tls) => ({ ...rest, ...tls })),
);

const backoff = some({
  initial_interval: fc.constantFrom("1ms", "1s"),
  multiplier: fc.constantFrom(1, 2, 2.5),
  jitter: fc.constantFrom(0, 0.2, 1),
});
const policy = some({
  max_in_flight: fc.integer({ min: 1, max: 1000 }),
  max_replay_attempts: fc.integer({ min: 1, max: 9 }),
  send_timeout: duration,
  on_expired: fc.constantFrom("dlq", "drop"),
  allow_unfenced: fc.boolean(),
  backoff,
});

const condition = fc.constantFrom(
  { field: "subject", op: "prefix", value: "" },
  { field: "header.Site", op: "eq", value: "https://user:pLaNtEd@example.com" },
  { field: "$.n", op: "gt", value: 0 },
  { field: "$.on", op: "in", value: [false, 1, "x"] },
  { field: "$.x", op: "exists" },
);
const when = fc.oneof(condition, fc.array(condition, { minLength: 1, maxLength: 3 }));

function resolver(bindings: readonly string[]): fc.Arbitrary<object> {
  const one = fc.constantFrom(...bindings);
  const choice = fc.oneof(one, fc.shuffledSubarray([...bindings], { minLength: 1 }));
  return fc.oneof(
    fc.constant({ type: "all" }),
    choice.map((binding) => ({ type: "static", binding })),
    fc.record(
      {
        type: fc.constant("rules"),
        rules: fc.array(fc.record({ when, binding: choice }), { maxLength: 3 }),
        default_binding: choice,
      },
      { requiredKeys: ["type", "default_binding"] },
    ),
    fc.record({
      type: fc.constant("header_map"),
      header: fc.constant("X-Site"),
      map: fc.dictionary(fc.constantFrom("a", "b c", "options"), choice, { noNullPrototype: true }),
      default_binding: choice,
    }),
  );
}

function route(index: number): fc.Arbitrary<Json> {
  const receiver_id = `in-${index}`;
  return fc.shuffledSubarray(["to-web", "to-web-too", "to-broker"], { minLength: 1 }).chain((bindings) =>
    fc.record(
      {
        id: fc.constant(`route.${index}`),
        receiver_id: fc.constant(receiver_id),
        bindings: fc.constant(bindings),
        dispatch_mode: fc.constant("fan_out"),
        processors: fc.constantFrom([], ["filter"], ["filter", "filter-too"]),
        resolver: resolver(bindings),
        policy,
      },
      { requiredKeys: ["id", "receiver_id", "bindings", "dispatch_mode"] },
    ),
  );
}

const topics = fc.array(
  fc.constantFrom({ topic: "s/#" }, { topic: "t", qos: 0 }, { topic: "${env:ADDRESS}" }, { topic: "u", qos: 1 }),
  { minLength: 1, maxLength: 3 },
);

/** Valid documents as people write them: with and without defaults, references, and secrets of all kinds. */
export const documents: fc.Arbitrary<Json> = fc.nat({ max: 3 }).chain((count) =>
  fc.record(
    {
      config_version: fc.nat(),
      bridge,
      http,
      config_watch: some({ mode: fc.constantFrom("notify", "poll"), poll_interval: duration }),
      audit: fc.constantFrom({}, { log: false }, { file: { path: "audit.jsonl" } }),
      telemetry: fc.constantFrom({}, { otlp: {} }, { otlp: { headers: { "x-api-key": "pLaNtEd" }, timeout: "3s" } }),
      stores: fc.constant({ dlq: { type: "file", options: { path: "pLaNtEd.db" } } }),
      sessions: fc.constant([
        {
          id: "broker",
          transport: "mqtt",
          options: { broker_urls: ["mqtt://u:pLaNtEd@h"], password: "pLaNtEd-password" },
        },
      ]),
      receivers: fc.tuple(
        ...Array.from({ length: count }, (_, index) =>
          topics.map((list): Json => ({ id: `in-${index}`, session_id: "broker", topics: list })),
        ),
      ),
      senders: fc.constant([
        { id: "web", transport: "http", options: { url: "https://example.com", bearer: "pLaNtEd-bearer" } },
        { id: "mqtt", session_id: "broker", transport: "" },
      ]),
      bindings: fc
        .constantFrom("/in/{device}", "/x/${env:ADDRESS}", "https://user:pLaNtEd@example.com/x")
        .map((address) => [
          { id: "to-web", sender_id: "web", session_id: "", address },
          { id: "to-web-too", sender_id: "web" },
          { id: "to-broker", sender_id: "mqtt", session_id: "broker", address: "out" },
        ]),
      processors: fc.constant([
        { id: "filter", type: "filter", options: { keep: "pLaNtEd" } },
        { id: "filter-too", type: "filter" },
      ]),
      routes: fc.tuple(...Array.from({ length: count }, (_, index) => route(index))),
    },
    { requiredKeys: ["bridge", "stores", "sessions", "receivers", "senders", "bindings", "processors", "routes"] },
  ),
);
