import { describe, expect, it } from "vitest";
import { emptyConfig, validateConfig } from "../src/index.ts";
import { goodDocument, parsed, problemsOf, warningsOf, withValue } from "./support/documents.ts";
import { registry } from "./support/plugins.ts";

const POLICY = {
  maxInFlight: 100,
  maxReplayAttempts: 5,
  replayBudgetMs: 0,
  sendTimeoutMs: 30_000,
  maxOutboxDepth: 10_000,
  ackAfter: "target_accept",
  onPermanentFailure: "dlq",
  onExpired: "dlq",
  onFiltered: "drop",
  allowUnfenced: false,
  backoff: { initialIntervalMs: 1000, maxIntervalMs: 30_000, multiplier: 2, jitter: 0.2 },
};

describe("a document in which nothing is wrong", () => {
  it("becomes a configuration with every default filled in", () => {
    expect(problemsOf(goodDocument())).toEqual([]);
    expect(warningsOf(goodDocument())).toEqual([]);
    expect(parsed(goodDocument())).toEqual({
      configVersion: 3,
      bridge: {
        id: "plant-7",
        instanceId: undefined,
        deploymentMode: "standalone",
        logLevel: "info",
        shutdownTimeoutMs: 30_000,
        drainTimeoutMs: 30_000,
        perRecordDrainTimeoutMs: 3000,
        maxDrainTimeoutMs: 10_000,
        quiesceTimeoutMs: 25_000,
        terminalLingerMs: 5000,
        leaseTtlMs: 20_000,
        leasePollIntervalMs: 2000,
        recentLegs: 100_000,
      },
      configWatch: { mode: "notify", pollIntervalMs: 30_000, debounceMs: 100 },
      http: undefined,
      audit: { log: true, file: undefined },
      telemetry: { otlp: undefined },
      stores: { dlq: { type: "file", reach: "instance", options: { acknowledge_volatile: false, path: "dlq.db" } } },
      sessions: [
        {
          id: "broker",
          transport: "mqtt",
          sessionMode: "persistent",
          options: { broker_urls: ["mqtt://127.0.0.1:1883"], keep_alive: 60_000 },
        },
      ],
      receivers: [
        { id: "in", transport: "mqtt", sessionId: "broker", topics: [{ topic: "s/#", qos: 1 }], options: {} },
      ],
      senders: [
        { id: "out", transport: "http", sessionId: undefined, options: { url: "https://example.com", retries: 0 } },
      ],
      bindings: [{ id: "to-out", senderId: "out", sessionId: undefined, managed: false, address: "/ingest/{device}" }],
      processors: [{ id: "only-alarms", type: "filter", options: { keep: "*" } }],
      routes: [
        {
          id: "alarms",
          receiverId: "in",
          deliveryMode: "direct_hold",
          dispatchMode: "single",
          processors: ["only-alarms"],
          resolver: { type: "rules", rules: [], defaultBindings: ["to-out"] },
          bindings: ["to-out"],
          policy: POLICY,
        },
      ],
    });
  });

  it("A.4: knows which address came in through a reference", () => {
    const of = (fromReference: readonly (string | number)[][]): unknown => {
      const result = validateConfig(goodDocument(), registry, { fromReference });
      return result.ok && result.config.bindings[0]?.hidesAddress;
    };
    expect(of([["bindings", 0, "address"]])).toBe(true);
    expect(of([["bindings", 0, "id"]])).toBeUndefined();
  });

  it("spec 1.7: carries the http block, with ports and origins as servers need them", () => {
    const document = withValue("http", {
      monitor_addr: "[::1]:9081",
      admin_api_key: "0123456789abcdef",
      cors_origins: "https://Ops.example.com:443, http://localhost:3000,",
      session_max: "8h",
    });
    expect(problemsOf(document)).toEqual([expect.stringMatching(/^http\.cors_origins: not a comma-separated list/)]);
    const fixed = withValue("http.cors_origins", "https://Ops.example.com:443, http://localhost:3000", document);
    expect(parsed(fixed).http).toEqual({
      adminAddr: ":8080",
      monitorAddr: "[::1]:9081",
      adminApiKey: "0123456789abcdef",
      monitorApiKey: "",
      apiKeys: [],
      corsOrigins: ["https://ops.example.com", "http://localhost:3000"],
      sessions: { idleMs: 3_600_000, maxMs: 8 * 3_600_000, trustForwardedProto: false },
      tlsCertFile: "",
      tlsKeyFile: "",
    });
  });

  it.each([
    ["session_idle", "59s", "must be from 1m to 30d"],
    ["session_max", "31d", "must be from 1m to 30d"],
    ["session_idle", 3600, "a duration is a string with a unit"],
    ["trust_forwarded_proto", "yes", "expected true or false"],
  ])("operators 5.1: http.%s is not %j", (key, value, problem) => {
    expect(problemsOf(withValue("http", { [key]: value }))).toEqual([
      expect.stringMatching(new RegExp(`^http\\.${key}: .*${problem}`, "i")),
    ]);
  });

  it("carries the audit file and the options of every block that has some", () => {
    const document = withValue("audit", { log: false, file: { path: "audit.jsonl", max_bytes: 1_000_000 } });
    expect(parsed(document).audit).toEqual({
      log: false,
      file: { path: "audit.jsonl", maxBytes: 1_000_000, keep: 10, hmacKey: undefined },
    });
  });

  it("leaves to the environment what a collector's block does not say", () => {
    const document = withValue("telemetry", { otlp: {} });
    expect(parsed(document).telemetry.otlp).toEqual({
      endpoint: undefined,
      headers: {},
      timeoutMs: undefined,
      compression: undefined,
      caFile: undefined,
      serviceName: undefined,
      resourceAttributes: {},
      metrics: { enabled: true, intervalMs: undefined, temporality: undefined },
      traces: { enabled: true, sampleRatio: undefined, maxQueue: undefined },
    });
    withValue("telemetry.otlp.metrics", { interval: "15s", temporality: "delta" }, document);
    withValue("telemetry.otlp.traces", { enabled: false, sample_ratio: 0.05, max_queue: 10 }, document);
    withValue("telemetry.otlp.headers", { "X-Api-Key": "k" }, document);
    expect(parsed(document).telemetry.otlp).toMatchObject({
      headers: { "X-Api-Key": "k" },
      metrics: { enabled: true, intervalMs: 15_000, temporality: "delta" },
      traces: { enabled: false, sampleRatio: 0.05, maxQueue: 10 },
    });
  });

  it("lets a binding take the session of its sender, and says who names it", () => {
    const document = goodDocument();
    document["senders"] = [{ id: "out", session_id: "broker" }];
    expect(parsed(document).senders[0]).toMatchObject({ transport: "mqtt", sessionId: "broker" });
    expect(parsed(document).bindings[0]).toMatchObject({ sessionId: "broker", managed: false });
    withValue("bindings.0.session_id", "broker", document);
    expect(parsed(document).bindings[0]).toMatchObject({ sessionId: "broker", managed: true });
  });

  it("spec 3.3: cuts the quiesce budget to what drain_timeout has room for, with a warning only where somebody wrote it", () => {
    const short = withValue("bridge.drain_timeout", "10s");
    expect(parsed(short).bridge.quiesceTimeoutMs).toBe(5_000);
    expect(warningsOf(short)).toEqual([]);
    expect(warningsOf(withValue("bridge.quiesce_timeout", "20s", short))).toEqual([
      "bridge.quiesce_timeout: is cut to 5000 ms: drain_timeout holds it and what cancelled work needs to end",
    ]);
  });
});

describe("a start without a document", () => {
  it("spec 1.8: has no routes and no sessions", () => {
    expect(emptyConfig()).toMatchObject({ bridge: { id: "bridge" }, routes: [], sessions: [], stores: {} });
    expect(emptyConfig("plant-7").bridge.id).toBe("plant-7");
  });
});
