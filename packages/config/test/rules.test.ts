import { describe, expect, it } from "vitest";
import { validateConfig } from "../src/index.ts";
import { goodDocument, type Json, problemsOf, warningsOf, withValue } from "./support/documents.ts";
import { registry } from "./support/plugins.ts";

/** The good document, changed. */
function changed(...changes: readonly (readonly [path: string, value: unknown])[]): Json {
  const document = goodDocument();
  for (const [path, value] of changes) withValue(path, value, document);
  return document;
}

describe("references between parts", () => {
  it.each([
    ["receivers.0.session_id", "brokr", 'there is no session "brokr"; did you mean "broker"?'],
    ["receivers.0.session_id", "hub", 'there is no session "hub"; sessions are broker'],
    ["senders.0.session_id", "hub", 'there is no session "hub"; sessions are broker'],
    ["bindings.0.sender_id", "outt", 'there is no sender "outt"; did you mean "out"?'],
    ["bindings.0.session_id", "hub", 'there is no session "hub"; sessions are broker'],
    ["routes.0.receiver_id", "inn", 'there is no receiver "inn"; did you mean "in"?'],
    ["routes.0.processors.0", "only-alarm", 'there is no processor "only-alarm"; did you mean "only-alarms"?'],
  ])("%s must be declared", (path, id, message) => {
    const place = path.replaceAll(/\.(\d+)/g, "[$1]");
    expect(problemsOf(changed([path, id]))).toContain(`${place}: ${message}`);
  });

  it("says where to declare a part when there is none of its kind", () => {
    expect(problemsOf(changed(["processors", []]))).toEqual([
      'routes[0].processors[0]: there is no processor "only-alarms"; add it to processors',
    ]);
  });

  it("neither suggests nor lists an id that is refused itself", () => {
    expect(problemsOf(changed(["processors.0.id", "only alarms\n"]))).toContain(
      'routes[0].processors[0]: there is no processor "only-alarms"; add it to processors',
    );
  });

  it("lists no more parts than anybody reads", () => {
    const parts = Array.from({ length: 12 }, (_, n) => ({ id: `p${n}`, type: "filter" }));
    expect(problemsOf(changed(["processors", parts]))).toEqual([
      'routes[0].processors[0]: there is no processor "only-alarms"; processors are p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, …',
    ]);
  });

  it("says nothing of references to a list or part that cannot be read", () => {
    expect(problemsOf(changed(["sessions", 5]))).toEqual(["sessions: expected a list (got a number)"]);
    expect(problemsOf(changed(["sessions.0.id", 5]))).toEqual(["sessions[0].id: expected a string (got 5)"]);
    expect(problemsOf(changed(["bindings.0.address", "{"]))).toHaveLength(1);
  });

  it("gives each part of a list an id of its own", () => {
    const document = goodDocument();
    document["bindings"] = [1, 2].map(() => ({ id: "to-out", sender_id: "out" }));
    expect(problemsOf(document)).toEqual(['bindings[1].id: the id "to-out" is taken by bindings[0]: choose another']);
  });

  it("lets a receiver feed one route only", () => {
    const document = goodDocument();
    const [route] = document["routes"] as Json[];
    document["routes"] = [route, { ...route, id: "other" }];
    expect(problemsOf(document)).toEqual([
      'routes[1].receiver_id: the receiver "in" feeds routes[0] already: join the two into one route with dispatch_mode: fan_out, or add a receiver',
    ]);
  });

  it("warns of no more than ten parts that nothing uses, and tells how many there are", () => {
    const more = Array.from({ length: 5_000 }, (_, n) => ({ id: `b${n}`, sender_id: "out", address: "a" }));
    const warnings = warningsOf(changed(["bindings", [...(goodDocument()["bindings"] as object[]), ...more]]));
    expect(warnings).toHaveLength(11);
    expect(warnings.slice(-2)).toEqual([
      'bindings[10]: nothing uses the binding "b9"',
      "bindings[11]: from here on 4990 more bindings that nothing uses",
    ]);
  });

  it("warns of parts that nothing uses", () => {
    const document = changed(["routes", []]);
    expect(warningsOf(document)).toEqual([
      'receivers[0]: nothing uses the receiver "in"',
      'bindings[0]: nothing uses the binding "to-out"',
      'processors[0]: nothing uses the processor "only-alarms"',
    ]);
    const empty = changed(["routes", []], ["bindings", []], ["receivers", []], ["processors", []]);
    expect(warningsOf(empty)).toEqual([
      'senders[0]: nothing uses the sender "out"',
      'sessions[0]: nothing uses the session "broker"',
    ]);
  });
});

describe("transports", () => {
  it("must be registered and have the part that is asked for", () => {
    expect(problemsOf(changed(["senders.0.transport", "htp"]))).toEqual([
      'senders[0].transport: no transport "htp" is registered; did you mean "http"?',
    ]);
    expect(problemsOf(changed(["senders.0.transport", "amqp"]))).toEqual([
      'senders[0].transport: no transport "amqp" is registered; registered: mqtt, http, broken',
    ]);
    expect(problemsOf(changed(["sessions.0.transport", "http"]))).toContain(
      'sessions[0].transport: the transport "http" has no sessions; those that have: mqtt',
    );
    expect(problemsOf(changed(["receivers", [{ id: "in", transport: "broken" }]]))).toContain(
      'receivers[0].transport: the transport "broken" has no receivers; those that have: mqtt, http',
    );
  });

  it("are named, or taken from the session; named twice they are equal", () => {
    expect(problemsOf(changed(["receivers.0.transport", "mqtt"]))).toEqual([]);
    expect(problemsOf(changed(["receivers", [{ id: "in" }]]))).toEqual([
      "receivers[0].transport: is required: name a transport, or a session_id whose transport the receiver takes",
    ]);
    expect(problemsOf(changed(["receivers.0.transport", "http"], ["receivers.0.topics", []]))).toEqual([
      "receivers[0].transport: differs from the transport of the session: make them equal, or remove this key",
    ]);
  });

  it("ask for a session where they need one", () => {
    const topics = [{ topic: "s/#" }];
    expect(problemsOf(changed(["receivers", [{ id: "in", transport: "mqtt", topics }]]))).toEqual([
      "receivers[0].session_id: is required: a receiver of this transport needs a session",
    ]);
    const sender = ["senders", [{ id: "out", transport: "mqtt" }]] as const;
    expect(problemsOf(changed(sender))).toEqual([
      "bindings[0].session_id: is required here or at the sender: a sender of this transport needs a session",
    ]);
    expect(problemsOf(changed(sender, ["bindings.0.session_id", "broker"]))).toEqual([]);
    expect(problemsOf(changed(sender, ["senders.0.session_id", "broker"]))).toEqual([]);
  });

  it("have topics or have none", () => {
    expect(problemsOf(changed(["receivers.0.topics", []]))).toEqual([
      "receivers[0].topics: is required: a receiver of this transport listens to at least one topic",
    ]);
    expect(problemsOf(changed(["receivers", [{ id: "in", transport: "http", topics: [{ topic: "a" }] }]]))).toEqual([
      "receivers[0].topics: receivers of this transport have no topics: remove this key",
    ]);
  });

  it("say which topics nobody can listen to", () => {
    const topics = [{ topic: "s/#" }, { topic: "s/#/a" }];
    expect(problemsOf(changed(["receivers.0.topics", topics]))).toEqual([
      'receivers[0].topics[1].topic: "s/#/a" has a "#" that is not the last level',
    ]);
  });

  it("say which addresses nothing can be sent to, whatever stands in their places", () => {
    const sender = ["senders", [{ id: "out", session_id: "broker" }]] as const;
    expect(problemsOf(changed(sender, ["bindings.0.address", "out/{device}"]))).toEqual([]);
    expect(problemsOf(changed(sender, ["bindings.0.address", "out/{device}/#"]))).toEqual([
      'bindings[0].address: "out/{device}/#" is no topic to publish to',
    ]);
    expect(problemsOf(changed(sender, ["bindings.0.address", undefined]))).toEqual([
      "bindings[0].address: is required: a sender of this transport needs to know where to",
    ]);
  });

  it("are the same for a binding's session and its sender", () => {
    const two = [0, 1].map((n) => ({ id: `s${n}`, transport: "mqtt", options: { broker_urls: ["mqtt://a"] } }));
    const document = changed(["sessions", two], ["receivers.0.session_id", "s0"]);
    document["senders"] = [{ id: "out", session_id: "s0" }];
    withValue("bindings.0.session_id", "s1", document);
    expect(problemsOf(document)).toEqual([
      "bindings[0].session_id: differs from the session_id of the sender: make them equal, or remove one",
    ]);
    expect(problemsOf(changed(["bindings.0.session_id", "broker"]))).toEqual([
      "bindings[0].session_id: the session is of another transport than the sender: name one of the sender's transport",
    ]);
  });

  it("leave a direct_hold route without redelivery a warning that names its session or receiver", () => {
    expect(warningsOf(changed(["sessions.0.session_mode", "ephemeral"]))).toEqual([
      expect.stringMatching(/^routes\[0\]\.delivery_mode: the session "broker" is ephemeral, .*direct_hold/),
    ]);
    const web = changed(["receivers", [{ id: "in", transport: "http" }]], ["sessions", []]);
    expect(warningsOf(web)).toEqual([
      expect.stringMatching(/^routes\[0\]\.delivery_mode: the receiver "in" does not keep messages/),
    ]);
    withValue("routes.0.delivery_mode", "shared_outbox", web);
    withValue("stores.outbox", { type: "file" }, web);
    expect(warningsOf(web)).toEqual([]);
  });
});

describe("processors", () => {
  it("are of a registered type", () => {
    expect(problemsOf(changed(["processors.0.type", "filtre"]))).toEqual([
      'processors[0].type: no processor type "filtre" is registered; did you mean "filter"?',
    ]);
  });
});

describe("stores", () => {
  it("spec 7.2: name the type without a factory, its role, and what is registered", () => {
    expect(problemsOf(changed(["stores.dlq.type", "fil"]))).toEqual([
      'stores.dlq.type: no store factory is registered for store type "fil" in the role dlq; registered: memory, file, table; did you mean "file"?',
    ]);
    expect(problemsOf(changed(["stores.outbox", { type: "redis" }]))).toEqual([
      'stores.outbox.type: no store factory is registered for store type "redis" in the role outbox; registered: file',
    ]);
  });

  it("spec 1.6: a store that forgets asks for acknowledge_volatile", () => {
    const message =
      "stores.dlq.options.acknowledge_volatile: this store loses what it holds on restart: set acknowledge_volatile: true to accept that, or choose a store that keeps it";
    expect(problemsOf(changed(["stores.dlq", { type: "memory" }]))).toEqual([message]);
    const options = (value: unknown): Json =>
      changed(["stores.dlq", { type: "memory", options: { acknowledge_volatile: value } }]);
    expect(problemsOf(options(false))).toEqual([message]);
    expect(problemsOf(options("yes"))).toEqual([message]);
    expect(problemsOf(options(true))).toEqual([]);
  });

  it("spec 1.6: in clustered mode every store is one that instances share", () => {
    const clustered = ["bridge.deployment_mode", "clustered"] as const;
    const shared = ["receivers.0.topics.0.topic", "$share/plant/s/#"] as const;
    expect(problemsOf(changed(clustered, shared))).toEqual([
      'stores.dlq.type: "file" is not shared by all instances, as deployment_mode clustered needs; stores that are: table',
    ]);
    expect(
      problemsOf(
        changed(clustered, shared, ["stores.dlq", { type: "memory", options: { acknowledge_volatile: true } }]),
      ),
    ).toEqual([expect.stringContaining('"memory" is not shared by all instances')]);
    expect(
      problemsOf(changed(clustered, shared, ["stores.outbox", { type: "file" }], ["stores.dlq.type", "table"])),
    ).toEqual([expect.stringContaining("stores that are: none is registered")]);
    expect(problemsOf(changed(clustered, shared, ["stores.dlq.type", "table"]))).toEqual([]);
  });

  it("are there for whatever is to be kept in them", () => {
    expect(problemsOf(changed(["stores", {}]))).toEqual([
      "routes[0].policy: on_permanent_failure and on_expired say dlq, but stores.dlq is not configured: configure it, or say drop",
    ]);
    const drop = { on_permanent_failure: "drop", on_expired: "drop" };
    expect(problemsOf(changed(["stores", {}], ["routes.0.policy", drop]))).toEqual([]);
    expect(problemsOf(changed(["stores", {}], ["routes.0.policy", { ...drop, on_filtered: "dlq" }]))).toEqual([
      "routes[0].policy: on_filtered says dlq, but stores.dlq is not configured: configure it, or say drop",
    ]);
    expect(problemsOf(changed(["routes.0.delivery_mode", "shared_outbox"]))).toEqual([
      "routes[0].delivery_mode: shared_outbox keeps messages, but stores.outbox is not configured: configure it, or choose direct_hold",
    ]);
    expect(problemsOf(changed(["sessions.0.session_mode", "exclusive"]))).toEqual([
      "sessions[0].session_mode: an exclusive session is held under a lease, but stores.lease is not configured: configure it, or choose persistent",
    ]);
    expect(problemsOf(changed(["sessions.0.session_mode", "exclusive"], ["stores.lease", { type: "table" }]))).toEqual(
      [],
    );
  });
});

describe("the two servers", () => {
  const KEY = "0123456789abcdef";

  it.each([
    [":9081", ":9081"],
    ["127.0.0.1:9081", ":9081"],
    ["[::]:9081", "0.0.0.0:9081"],
    ["localhost:8081", undefined],
  ])("that would listen on one address, %s and %s, are told of with whatever else is wrong", (admin, monitor) => {
    const document = changed(["http", { admin_addr: admin, monitor_addr: monitor }], ["senders.0.retries", 9]);
    expect(problemsOf(document)).toEqual([
      expect.stringContaining("senders[0].retries: unknown key"),
      "http.monitor_addr: http.admin_addr listens on this address already: give each an address of its own",
    ]);
  });

  it("that listen apart, or where there is room, are fine", () => {
    for (const [admin_addr, monitor_addr] of [
      [":9081", ":9082"],
      ["127.0.0.1:0", "127.0.0.1:0"],
      ["127.0.0.1:9081", "127.0.0.2:9081"],
    ])
      expect(problemsOf(changed(["http", { admin_addr, monitor_addr }]))).toEqual([]);
  });

  it("with one key are warned of: whoever may look may change everything", () => {
    const keys = (admin_api_key: string, monitor_api_key: string): Json =>
      changed(["http", { admin_api_key, monitor_api_key }]);
    expect(warningsOf(keys(KEY, KEY))).toEqual([
      "http.monitor_api_key: is the admin key, so that whoever may look may change everything: give the monitor server a key of its own",
    ]);
    expect(warningsOf(keys(KEY, `${KEY}-`))).toEqual([]);
    expect(warningsOf(keys("", ""))).toEqual([]);
  });
});

describe("a secret that only looks like a reference", () => {
  const TOLD = /looks like a reference and is none.*\$\{env:NAME\}/;

  it.each([
    "${BRIDGE_ADMIN_API_KEY}",
    "${ENV:OPS_ADMIN_KEY_OF_PLANT_7}",
    "${ env:OPS_ADMIN_KEY }",
    "${ssm:/plant-7/admin-api-key}",
    "Bearer ${secret:plant-7}",
    "{{ admin_api_key_of_plant_7 }}",
    "{{bridge.admin_api_key}}",
  ])("is refused, and not shown: %j", (text) => {
    for (const path of ["http.admin_api_key", "sessions.0.options.password", "senders.0.options.bearer"]) {
      const [problem = "", ...others] = problemsOf(withValue(path, text));
      expect(problem).toMatch(TOLD);
      expect(problem).not.toContain(text.trim());
      expect(others).toEqual([]);
    }
  });

  it("is none where it came in through one, nor where it has only some of its letters", () => {
    const document = withValue("http.admin_api_key", "${BRIDGE_ADMIN_API_KEY}");
    const fromReference = [["http", "admin_api_key"]];
    expect(validateConfig(document, registry, { fromReference }).ok).toBe(true);
    for (const text of ["a$b{c}d$e{f}g-0123456", "{{not the whole}} of it-0123", "$ {a} ${ and no end"])
      expect(problemsOf(withValue("http.admin_api_key", text))).toEqual([]);
  });
});

describe("options of plugins", () => {
  it("are held against the plugin's schema, each problem at its place", () => {
    const document = changed(
      ["sessions.0.options", { broker_urls: ["no url"], keep_alive: 60, keepalive: "5s", tls: { ca: "x" } }],
      ["senders.0.options.retries", 9],
      ["processors.0.options", { keep: "" }],
      ["stores.dlq.options.paht", "x"],
    );
    expect(problemsOf(document)).toEqual([
      'stores.dlq.options.paht: unknown key; did you mean "path"?',
      'sessions[0].options.keepalive: unknown key; did you mean "keep_alive"?',
      "sessions[0].options.tls.ca: unknown key; known here: ca_file, passphrase",
      'sessions[0].options.broker_urls[0]: is not a valid url (got "no url")',
      'sessions[0].options.keep_alive: a duration is a string with a unit, such as "250ms" or "1m30s" (got 60)',
      "senders[0].options.retries: expected an integer from 0 to 5 (got 9)",
      "processors[0].options.keep: must not be empty",
    ]);
  });

  it("of a union tell what is wrong in the form that was meant", () => {
    const will = (value: unknown): Json => changed(["sessions.0.options.will", value]);
    expect(problemsOf(will("none"))).toEqual([]);
    expect(problemsOf(will({ topic: "t", qos: 2 }))).toEqual([
      "sessions[0].options.will.qos: expected one of 0, 1 (got 2)",
    ]);
    expect(problemsOf(will({ topic: "t", qos: 1, extra: 1 }))).toEqual([
      "sessions[0].options.will.extra: unknown key; known here: topic, qos",
    ]);
    expect(problemsOf(will(5))).toEqual([
      "sessions[0].options.will: expected none, or expected a block of keys (got a number)",
    ]);
  });

  it("are refused when the plugin's own check fails", () => {
    expect(problemsOf(changed(["senders.0", { id: "out", transport: "broken" }]))).toEqual([
      "senders[0].options: the plugin failed to check these options: they are of a form that it did not expect",
    ]);
    expect(problemsOf(changed(["processors.0", { id: "only-alarms", type: "opaque", options: { a: "b" } }]))).toEqual([
      "processors[0].options: the plugin failed to check these options: they are of a form that it did not expect",
    ]);
  });
});

describe("operators 5.1: named keys of the servers", () => {
  const KEY = "0123456789abcdef";
  const one = (id: string, rest: Json = { role: "viewer" }): Json => ({
    id,
    key: `${id}-key-0123456789`,
    ...rest,
  });
  const faults = (...api_keys: readonly Json[]): readonly string[] =>
    problemsOf(changed(["http", { admin_api_key: KEY, monitor_api_key: `${KEY}-monitor`, api_keys }]));

  it("have a role or permissions", () => {
    expect(faults(one("alice"), one("bob", { permissions: ["read", "dlq.redrive"] }))).toEqual([]);
    const needs = "http.api_keys[0]: needs either a role or permissions";
    expect(faults(one("bob", {}))).toEqual([expect.stringContaining(needs)]);
    expect(faults(one("bob", { role: "admin", permissions: ["read"] }))).toEqual([expect.stringContaining(needs)]);
    expect(faults(one("bob", { role: "operater" }))).toEqual([
      expect.stringMatching(/^http\.api_keys\[0\]\.role: .*did you mean "operator"/),
    ]);
    expect(faults(one("bob", { permissions: [] }))).toEqual(["http.api_keys[0].permissions: must name at least one"]);
  });

  it("have names of their own, which audit events can show", () => {
    expect(faults(one("alice"), one("alice"))).toEqual([
      'http.api_keys[1].id: the name "alice" is taken by http.api_keys[0]: choose another',
      "http.api_keys[1].key: is the key of http.api_keys[0]: an audit event could not tell who it was",
    ]);
    for (const name of ["admin", "monitor"])
      expect(faults(one(name))).toEqual([
        `http.api_keys[0].id: the name "${name}" is that of a key without a name: choose another`,
      ]);
    expect(faults(one("Alice"))).toEqual([expect.stringContaining("1 to 64 of a-z")]);
  });

  it("are nobody else's", () => {
    for (const [key, owner] of [
      [KEY, "http.admin_api_key"],
      [`${KEY}-monitor`, "http.monitor_api_key"],
    ] as const)
      expect(faults(one("alice", { key, role: "viewer" }))).toEqual([
        `http.api_keys[0].key: is the key of ${owner}: an audit event could not tell who it was`,
      ]);
  });
});
