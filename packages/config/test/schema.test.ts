import { describe, expect, it } from "vitest";
import { goodDocument, problemsOf, withValue } from "./support/documents.ts";

const DURATION = /number with a unit|string with a unit/;
const QUERY = /^telemetry\.otlp\.endpoint: has a query or a fragment.* a key belongs into `headers`$/;

/** A value at a place, and what is said of it. */
const REFUSED: readonly (readonly [path: string, value: unknown, message: RegExp | string])[] = [
  ["bridge", undefined, "bridge: is required"],
  ["bridge.id", undefined, "bridge.id: is required"],
  ["bridge.id", "a b", /^bridge\.id: an id consists of letters.*\(got "a b"\)$/],
  ["bridge.id", "-a", /begins with a letter/],
  ["bridge.id", "x".repeat(65), /at most 64 characters/],
  ["bridge.id", 7, "bridge.id: expected a string (got 7)"],
  ["bridge", [], "bridge: expected a block of keys (got a list)"],
  ["bridge", "x", "bridge: expected a block of keys (got a string)"],
  ["bridge.instance_id", "a/b", /^bridge\.instance_id: /],
  ["bridge.deployment_mode", "cluster", /expected one of standalone, clustered; did you mean "clustered"\?/],
  ["bridge.log_level", "warning", /expected one of debug, info, warn, error.*\(got "warning"\)/],
  ["bridge.shutdown_timeout", 30, DURATION],
  ["bridge.shutdown_timeout", "30", DURATION],
  ["bridge.shutdown_timeout", "-30s", DURATION],
  ["bridge.shutdown_timeout", "1w", DURATION],
  ["bridge.shutdown_timeout", "0s", 'bridge.shutdown_timeout: must be longer than 0s (got "0s")'],
  ["bridge.shutdown_timeout", "90000h", DURATION],
  ["bridge.quiesce_timeout", null, "bridge.quiesce_timeout: must not be null: give it a value or remove the key"],
  ["config_version", -1, /expected an integer/],
  ["config_version", 1.5, /expected an integer/],
  ["config_watch.mode", "inotify", /expected one of notify, poll.*did you mean "notify"\?/],
  ["config_watch.debounce", 100, DURATION],
  ["http", null, "http: must not be null: give it a value or remove the key"],
  ["telemetry.otlp", { endpoint: "localhost:4318" }, /otlp.endpoint: not the URL of a collector: write "http:/],
  ["telemetry.otlp", { endpoint: "https://user:pw@otel.example.com" }, /otlp.endpoint: not the URL of a collector/],
  ["telemetry.otlp", { endpoint: "https://otel.example.com?key=planted" }, QUERY],
  ["telemetry.otlp", { endpoint: "https://otel.example.com/otlp#planted" }, QUERY],
  ["telemetry.otlp", { endpoint: "https://otel.example.com/otlp?" }, QUERY],
  ["telemetry.otlp", { headers: { "no name": "x" } }, /not a header name/],
  ["telemetry.otlp", { traces: { sample_ratio: -0.1 } }, /expected a number from 0 to 1/],
  ["telemetry.otlp", { metrics: { interval: "0s" } }, /must be longer than 0s/],
  ["http.admin_addr", "8080", /not an address: write ":8080"/],
  ["http.admin_addr", ":65536", /not an address/],
  ["http.admin_addr", "[::g]:80", /not an address/],
  ["http.admin_addr", "http://x:80", /not an address/],
  ["http.admin_addr", "999.1.1.1:80", /not an address/],
  ["http.admin_api_key", "fifteen letters", /at least 16 characters$/],
  ["http.monitor_api_key", "short", /at least 16 characters/],
  ["http.admin_api_key", " ".repeat(20), /blanks at its ends, line breaks/],
  ["http.admin_api_key", "0123456789\nabcdefgh", /line breaks or other control characters: remove them$/],
  ["http.monitor_api_key", "0123456789abcdefgh\n", /line breaks/],
  ["http.cors_origins", "*", /the wildcard "\*" is not allowed/],
  ["http.cors_origins", "https://*.example.com", /the wildcard/],
  ["http.cors_origins", "https://a.example/path", /not a comma-separated list of origins/],
  ["http.cors_origins", "https://a.example/", /not a comma-separated list of origins/],
  ["http.cors_origins", "null", /not a comma-separated list of origins/],
  ["http.cors_origins", ["https://a.example"], /expected a string \(got a list\)/],
  ["http.tls_cert_file", "cert.pem", /^http\.tls_key_file: is required because tls_cert_file is given/],
  ["http.tls_key_file", "key.pem", /^http\.tls_cert_file: is required because tls_key_file is given/],
  ["routes.0.rate_limit", {}, /rate_limit\.messages_per_second: is required/],
  ["routes.0.rate_limit", { messages_per_second: 0 }, /expected a number from 0\.001 to 1000000/],
  ["senders.0.rate_limit", { messages_per_second: "10" }, /expected a number from 0\.001 to 1000000/],
  ["senders.0.rate_limit", { messages_per_second: 10, burst: 0 }, /rate_limit\.burst: expected an integer/],
  ["audit.log", "yes", 'audit.log: expected true or false (got "yes")'],
  ["audit.file", {}, "audit.file.path: is required"],
  ["audit.file", { path: "" }, "audit.file.path: must not be empty"],
  ["audit.file", { path: "x", keep: 0 }, /audit\.file\.keep: expected an integer/],
  ["audit.file", { path: "x", max_bytes: 100 }, /audit\.file\.max_bytes: expected an integer at least 4096/],
  ["audit.file", { path: "x", max_bytes: "64 MB" }, /audit\.file\.max_bytes: expected an integer/],
  ["audit.file", { path: "x", hmac_key: "short" }, "audit.file.hmac_key: an HMAC key has at least 32 characters"],
  ["audit.file", { path: "x", retain: 3 }, /audit\.file\.retain: unknown key/],
  ["stores.dqlq", {}, 'stores.dqlq: unknown key; did you mean "dlq"?'],
  ["sessions", {}, /^sessions: expected a list/],
  ["sessions.0", 5, "sessions[0]: expected a block of keys (got a number)"],
  ["sessions.0.session_mode", "persistant", /did you mean "persistent"\?/],
  ["sessions.0.options", [], "sessions[0].options: expected a block of keys (got a list)"],
  ["receivers.0.session_id", 5, "receivers[0].session_id: expected a string (got 5)"],
  ["receivers.0.id", "inject", /stands for messages of the admin API/],
  ["receivers.0.topics.0.qos", 3, /expected one of 0, 1, 2 \(got 3\)/],
  ["receivers.0.topics.0", "s/#", /expected a block of keys/],
  ["bindings.0.address", "/x/{device", /the braces do not pair up/],
  ["bindings.0.address", "/x/{}", /the braces do not pair up/],
  ["bindings.0.adress", "/x", 'bindings[0].adress: unknown key; did you mean "address"?'],
  ["routes.0.bindings", [], "routes[0].bindings: must name at least one binding"],
  ["routes.0.delivery_mode", "outbox", /expected one of direct_hold, shared_outbox/],
  ["routes.0.dispatch_mode", "fanout", /did you mean "fan_out"\?/],
  ["routes.0.policy.max_in_flight", 0, /expected an integer from 1 to 100000 \(got 0\)/],
  ["routes.0.policy.max_in_flight", "100", /expected an integer from 1 to 100000 \(got "100"\)/],
  ["routes.0.policy.max_replay_attempts", 0, /expected an integer at least 1/],
  ["routes.0.policy.ack_after", "receive", /expected target_accept/],
  ["routes.0.policy.on_expired", "discard", /expected one of dlq, drop \(got "discard"\)/],
  ["routes.0.policy.backoff.multiplier", 0.5, /expected a number from 1 to 1000 \(got 0\.5\)/],
  ["routes.0.policy.backoff.multiplier", Number.POSITIVE_INFINITY, /expected a number from 1 to 1000/],
  ["routes.0.policy.backoff.jitter", 1.1, /expected a number from 0 to 1 \(got 1\.1\)/],
  ["routes.0.policy.backoff.jitter", -0.1, /expected a number from 0 to 1/],
  ["routes.0.policy.backoff.max_interval", "500ms", /max_interval: is shorter than initial_interval/],
  ["routes.0.policy.send_timeout", "0s", /must be longer than 0s/],
];

describe("the schema of the document is strict", () => {
  it.each(REFUSED)("%s: %j", (path, value, message) => {
    const problems = problemsOf(withValue(path, value));
    expect(problems).toContainEqual(typeof message === "string" ? message : expect.stringMatching(message));
  });

  it.each([":0", ":8080", "127.0.0.1:8080", "[::1]:8080", "[fe80::1%eth0]:80", "localhost:80", "a-b.example.com:443"])(
    "takes the address %s",
    (address) => expect(problemsOf(withValue("http.admin_addr", address))).toEqual([]),
  );

  it("tells every unknown key, and none that only an object's prototype has", () => {
    const document = withValue(
      "bridge",
      JSON.parse('{"id":"a","constructor":1,"__proto__":2,"toString":3,"log_levl":4}'),
    );
    expect(problemsOf(document)).toEqual([
      expect.stringMatching(/^bridge\.constructor: unknown key; known here: id, instance_id, /),
      expect.stringMatching(/^bridge\.__proto__: unknown key/),
      expect.stringMatching(/^bridge\.toString: unknown key/),
      'bridge.log_levl: unknown key; did you mean "log_level"?',
    ]);
  });

  it("refuses keys of a map that could not be kept", () => {
    const map = JSON.parse('{"__proto__":"to-out","a":"to-out"}') as unknown;
    expect(problemsOf(withValue("routes.0.resolver", { type: "header_map", header: "x", map }))).toEqual([
      "routes[0].resolver.map.__proto__: this key cannot be used: choose another",
    ]);
  });

  it("is not misled by a document that is none", () => {
    expect(problemsOf(null)).toEqual(["bridge: is required"]);
    expect(problemsOf(undefined)).toEqual(["bridge: is required"]);
    expect(problemsOf("bridge")).toEqual(["expected a block of keys (got a string)"]);
    expect(problemsOf([goodDocument()])).toContainEqual("expected a block of keys (got a list)");
    expect(problemsOf({})).toEqual(["bridge: is required"]);
  });

  it("tells the problems of all blocks at once, and those of what joins them", () => {
    const document = withValue("bridge.log_level", "loud");
    withValue("routes.0.policy.backoff.jitter", 2, document);
    withValue("routes.0.receiver_id", "inn", document);
    withValue("senders.0.options.retries", 9, document);
    withValue("stores.dlq.type", "fil", document);
    expect(problemsOf(document).map((problem) => problem.split(":")[0])).toEqual([
      "bridge.log_level",
      "routes[0].policy.backoff.jitter",
      "routes[0].receiver_id",
      "stores.dlq.type",
      "senders[0].options.retries",
    ]);
  });
});
