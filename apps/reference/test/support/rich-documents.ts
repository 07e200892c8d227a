import type { Json } from "@bridge/tooling/spoiled";

const SHARED: Json = {
  config_version: 4,
  bridge: {
    id: "plant-7",
    instance_id: "a",
    deployment_mode: "standalone",
    log_level: "info",
    shutdown_timeout: "1m",
    drain_timeout: "30s",
    per_record_drain_timeout: "3s",
    max_drain_timeout: "10s",
    quiesce_timeout: "25s",
    terminal_linger: "5s",
    lease_ttl: "20s",
    lease_poll_interval: "2s",
    recent_legs: 100_000,
  },
  config: { references: { allow: ["env:SITE_*"] } },
  config_watch: { mode: "poll", poll_interval: "30s", debounce: "100ms" },
  http: {
    admin_addr: ":8080",
    monitor_addr: "127.0.0.1:8081",
    admin_api_key: "0123456789abcdef",
    monitor_api_key: "abcdefghijklmnop",
    cors_origins: "https://ops.example.com, http://localhost:3000",
    tls_cert_file: "c.pem",
    tls_key_file: "k.pem",
  },
  audit: {
    log: true,
    file: { path: "audit.jsonl", max_bytes: 5000, keep: 3, hmac_key: "0123456789abcdef0123456789abcdef" },
  },
  telemetry: {
    otlp: {
      endpoint: "https://otel.example.com",
      headers: { "x-key": "k" },
      timeout: "3s",
      compression: "gzip",
      ca_file: "ca.pem",
      service_name: "bridge",
      resource_attributes: { "deployment.environment.name": "x" },
      metrics: { enabled: true, interval: "60s", temporality: "delta" },
      traces: { enabled: true, sample_ratio: 0.5, max_queue: 100 },
    },
  },
};

const POLICY: Json = {
  max_in_flight: 10,
  max_replay_attempts: 5,
  replay_budget: "5m",
  send_timeout: "5s",
  max_outbox_depth: 100,
  ack_after: "target_accept",
  on_permanent_failure: "dlq",
  on_expired: "drop",
  on_filtered: "drop",
  allow_unfenced: true,
  backoff: { initial_interval: "1s", max_interval: "30s", multiplier: 1.5, jitter: 0.1 },
};

const FILE_STORES: Json = {
  dlq: { type: "file", options: { path: "dlq.db", max_bytes: 2_000_000, retention: "30d" }, abandon_backlog: false },
  outbox: {
    type: "file",
    options: { path: "outbox.db", retention: "1h", max_bytes: 2_000_000, on_corrupt: "refuse" },
    abandon_backlog: true,
  },
};

const MEMORY_STORES: Json = {
  dlq: { type: "memory", options: { acknowledge_volatile: true, max_entries: 100 } },
  outbox: { type: "memory", options: { acknowledge_volatile: true, max_records: 100, retention: "1h" } },
  lease: { type: "memory", options: { acknowledge_volatile: true, name: "default" } },
};

const CONNECTION: Json = {
  host: "db",
  port: 5432,
  database: "plant",
  user: "bridge",
  password: "secret",
  tls: { ca_file: "ca.pem", cert_file: "c.pem", key_file: "k.pem", reject_unauthorized: false },
  schema: "bridge",
  pool_size: 5,
};

const POSTGRES_STORES: Json = {
  dlq: { type: "postgres", options: { ...CONNECTION, retention: "30d" } },
  outbox: { type: "postgres", options: { ...CONNECTION, retention: "1h" } },
  lease: { type: "postgres", options: { url: "postgresql://bridge@db/plant?sslmode=verify-full" } },
};

const PROCESSORS: readonly Json[] = [
  {
    id: "filter",
    type: "filter",
    options: {
      keep: [
        { field: "subject", op: "regex", value: "^in/" },
        { field: "header.site", op: "in", value: ["a", 1] },
      ],
      drop: [
        { field: "$.n", op: "gt", value: 5 },
        { field: "$.m", op: "exists", value: false },
      ],
      on_unreadable: "keep",
    },
  },
  {
    id: "transform",
    type: "transform",
    options: {
      payload: "$",
      subject: "'a'",
      content_type: "'text/plain'",
      headers: { "x-a": "'b'" },
      timeout: "1s",
      max_bytes: 1000,
    },
  },
  { id: "schema", type: "schema", options: { schema: { type: "object" }, timeout: "1s", max_bytes: 1000 } },
  {
    id: "breaker",
    type: "circuit_breaker",
    options: { failures: 5, open_for: "30s", probes: 1, key: "header.tenant", max_keys: 10 },
  },
];

const RULES: Json = {
  type: "rules",
  rules: [
    { when: { field: "subject", op: "exists", value: false }, binding: ["to-out"] },
    {
      when: [
        { field: "$.a", op: "prefix", value: "x" },
        { field: "$.b", op: "exists", value: true },
      ],
      binding: "to-out",
    },
  ],
  default_binding: "to-out",
};

/** One session and a route over it, with every option that a transport has. */
interface Parts {
  readonly session?: Json;
  readonly receiver: Json;
  readonly sender: Json;
  readonly address: string;
  readonly stores: Json;
  readonly resolver: Json;
  readonly processors?: readonly Json[];
}

function whole({ session, receiver, sender, address, stores, resolver, processors = [] }: Parts): Json {
  return structuredClone({
    ...SHARED,
    stores,
    sessions: session === undefined ? [] : [{ id: "broker", ...session }],
    receivers: [{ id: "in", ...receiver }],
    senders: [{ id: "out", rate_limit: { messages_per_second: 5, burst: 10 }, ...sender }],
    bindings: [{ id: "to-out", sender_id: "out", session_id: session === undefined ? "" : "broker", address }],
    processors,
    routes: [
      {
        id: "only",
        receiver_id: "in",
        delivery_mode: "shared_outbox",
        dispatch_mode: "fan_out",
        processors: processors.map(({ id }) => id),
        resolver,
        bindings: ["to-out"],
        policy: POLICY,
        rate_limit: { messages_per_second: 0.5 },
      },
    ],
  });
}

const TLS: Json = { ca_file: "ca.pem", cert_file: "c.pem", key_file: "k.pem", reject_unauthorized: true };

/** Valid documents in which everything is written that the reference binary knows. */
export const RICH_DOCUMENTS: readonly Json[] = [
  whole({
    session: {
      transport: "mqtt",
      session_mode: "exclusive",
      options: {
        broker_urls: ["mqtts://a:8883", "ssl://b"],
        client_id: "plant-7",
        protocol_version: 5,
        keep_alive: "30s",
        connect_timeout: "10s",
        session_expiry: "24h",
        receive_maximum: 100,
        max_message_bytes: 4096,
        username: "u",
        password: "p",
        tls: TLS,
        will: { topic: "gone", payload: "x", qos: 1, retain: true },
        ack_order: "any",
        retain_as_published: true,
        id_property: "id",
      },
    },
    receiver: { session_id: "broker", topics: [{ topic: "in/+/#", qos: 1 }, { topic: "$share/g/x" }] },
    sender: { session_id: "broker", options: { qos: 1, retain: false } },
    address: "out/{device}",
    stores: MEMORY_STORES,
    resolver: { type: "static", binding: "to-out" },
  }),
  whole({
    session: {
      transport: "amqp",
      session_mode: "persistent",
      options: {
        url: "amqps://host:5671/plant",
        username: "u",
        password: "p",
        heartbeat: "10s",
        connect_timeout: "10s",
        max_message_bytes: 4096,
        tls: TLS,
      },
    },
    receiver: {
      session_id: "broker",
      topics: [],
      options: { queue: "in", queue_type: "classic", declare: true, prefetch: 20, retry: "requeue" },
    },
    sender: { session_id: "broker", transport: "", options: { exchange: "x", mandatory: false, persistent: false } },
    address: "key.{device}",
    stores: FILE_STORES,
    resolver: { type: "header_map", header: "X-Site", map: { a: "to-out", b: ["to-out"] }, default_binding: "to-out" },
  }),
  whole({
    session: {
      transport: "nats",
      options: {
        servers: ["tls://a:4222", "tls://b"],
        username: "u",
        password: "p",
        ping_interval: "10s",
        connect_timeout: "10s",
        inbox_prefix: "_INBOX",
        max_message_bytes: 4096,
        tls: TLS,
      },
    },
    receiver: {
      transport: "nats",
      session_id: "broker",
      options: {
        stream: "IN",
        consumer: "c",
        create: true,
        filter_subject: "in.*.>",
        deliver: "new",
        ack_wait: "30s",
        max_ack_pending: 100,
      },
    },
    sender: { transport: "nats", session_id: "broker", options: { stream: "OUT" } },
    address: "out.{device}",
    stores: POSTGRES_STORES,
    resolver: { type: "all" },
  }),
  whole({
    receiver: {
      transport: "http",
      options: {
        addr: "[::1]:8082",
        path: "/in/side",
        api_key: "0123456789abcdef",
        allow_anonymous: false,
        max_body: 1000,
        response_timeout: "30s",
        tls: { cert_file: "c.pem", key_file: "k.pem", client_ca_file: "ca.pem" },
      },
    },
    sender: {
      transport: "http",
      options: {
        url: "https://example.com/in?x=1",
        method: "PUT",
        headers: { "X-Site": "a" },
        api_key: "k",
        bearer: "b",
        allowed_origins: ["https://other.example.com"],
        max_connections: 10,
        connect_timeout: "10s",
        tls: { ca_file: "ca.pem", cert_file: "c.pem", key_file: "k.pem" },
      },
    },
    address: "/{device}",
    stores: FILE_STORES,
    resolver: RULES,
    processors: PROCESSORS,
  }),
  whole({
    session: { transport: "nats", options: { servers: ["nats://a"], token: "t" } },
    receiver: {
      transport: "memory",
      options: { channel: "in", redelivery_delay: "1s", counts: true, releasable: false },
    },
    sender: { transport: "nats", session_id: "broker" },
    address: "out",
    stores: FILE_STORES,
    resolver: RULES,
  }),
  whole({
    receiver: { transport: "memory", options: { channel: "in" } },
    sender: { transport: "memory", options: { channel: "out", max_messages: 100, discard: false } },
    address: "",
    stores: MEMORY_STORES,
    resolver: { type: "static", binding: ["to-out"] },
  }),
];
