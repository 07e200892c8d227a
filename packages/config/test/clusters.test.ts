import { describe, expect, it } from "vitest";
import { goodDocument, type Json, parsed, problemsOf, warningsOf, withValue } from "./support/documents.ts";

type Changes = Readonly<Record<string, unknown>>;

/** The good document in a cluster, with an exclusive session. */
const CLUSTER: Changes = {
  "bridge.deployment_mode": "clustered",
  "stores.dlq": { type: "table" },
  "stores.lease": { type: "table" },
  "sessions.0.session_mode": "exclusive",
};

function document(changes: Changes): Json {
  const made = goodDocument();
  for (const [path, value] of Object.entries(changes)) withValue(path, value, made);
  return made;
}

function sendTimeoutMs(changes: Changes): number | undefined {
  return parsed(document(changes)).routes[0]?.policy.sendTimeoutMs;
}

describe("send_timeout over an exclusive session", () => {
  it("is half of lease_ttl at the most if nothing is written, and 30s elsewhere", () => {
    expect(sendTimeoutMs({})).toBe(30_000);
    expect(sendTimeoutMs(CLUSTER)).toBe(10_000);
    expect(sendTimeoutMs({ ...CLUSTER, "bridge.lease_ttl": "8s" })).toBe(4_000);
    expect(sendTimeoutMs({ ...CLUSTER, "bridge.lease_ttl": "5m" })).toBe(30_000);
    expect(sendTimeoutMs({ ...CLUSTER, "routes.0.policy.send_timeout": "3s" })).toBe(3_000);
  });

  it("counts whichever way the route goes over it", () => {
    const overTarget = {
      ...CLUSTER,
      "receivers.0": { id: "in", transport: "http" },
      "senders.0": { id: "out", session_id: "broker" },
      "bindings.0.address": "out",
    };
    expect(sendTimeoutMs(overTarget)).toBe(10_000);
    expect(sendTimeoutMs({ ...overTarget, "sessions.0.session_mode": "persistent" })).toBe(30_000);
  });

  it("finding 7.4: has to leave a tenth of lease_ttl when it is written: the problem names both", () => {
    for (const timeout of ["20s", "19900ms", "18001ms"]) {
      expect(problemsOf(document({ ...CLUSTER, "routes.0.policy.send_timeout": timeout }))).toEqual([
        'routes[0].policy.send_timeout: is more than nine tenths of bridge.lease_ttl, which is "20s": a send would outlast the lease of session "broker", and so none would begin; lower send_timeout, or raise lease_ttl',
      ]);
    }
    expect(problemsOf(document({ ...CLUSTER, "routes.0.policy.send_timeout": "18s" }))).toEqual([]);
    expect(problemsOf(document({ "routes.0.policy.send_timeout": "20s" }))).toEqual([]);
  });

  it("is warned of when it leaves little time for renewals", () => {
    const warnings = (timeout: string) => warningsOf(document({ ...CLUSTER, "routes.0.policy.send_timeout": timeout }));
    expect(warnings("15s")).toEqual([]);
    expect(warnings("15001ms")).toEqual([
      expect.stringMatching(/^routes\[0\]\.policy\.send_timeout: leaves less than a quarter of bridge\.lease_ttl/),
    ]);
  });
});

describe("the times of leases", () => {
  it("have a least value, and defaults that make a failover of less than half a minute", () => {
    expect(parsed(goodDocument()).bridge).toMatchObject({
      leaseTtlMs: 20_000,
      leasePollIntervalMs: 2_000,
    });
    expect(problemsOf(document({ "bridge.lease_ttl": "999ms" }))).toEqual([
      expect.stringContaining("bridge.lease_ttl: must be at least 1s"),
    ]);
    expect(problemsOf(document({ "bridge.lease_poll_interval": "99ms" }))).toEqual([
      expect.stringContaining("bridge.lease_poll_interval: must be at least 100ms"),
    ]);
  });
});

describe("spec 2.3: in a cluster a source hands each message to one instance", () => {
  const broadcast = { ...CLUSTER, "sessions.0.session_mode": "persistent" };

  it("refuses one that every instance would get, and says what to do", () => {
    expect(problemsOf(document(broadcast))).toEqual([
      'routes[0].receiver_id: in deployment_mode clustered each instance would take every message of receiver "in" ("s/#") and deliver it once more: make its session exclusive, listen to what gives each message to one of the instances, such as a queue or a shared subscription, or set policy.allow_unfenced: true if exactly one instance consumes it',
    ]);
  });

  it("refuses it with an outbox too, which would keep each copy under an id of its own", () => {
    const stored = { ...broadcast, "routes.0.delivery_mode": "shared_outbox" };
    expect(problemsOf(document(stored))).toContainEqual(expect.stringContaining("and keep and deliver it once more"));
  });

  it.each([
    ["an exclusive session", { "sessions.0.session_mode": "exclusive" }],
    ["a shared subscription", { "receivers.0.topics": [{ topic: "$share/plant/s/#" }] }],
    ["a source whose messages go to one instance each", { "receivers.0": { id: "in", transport: "http" } }],
    ["the declaration that one instance consumes it", { "routes.0.policy.allow_unfenced": true }],
    ["a bridge that stands alone", { "bridge.deployment_mode": "standalone" }],
  ])("accepts %s", (_, changes) => {
    expect(problemsOf(document({ ...broadcast, ...changes }))).toEqual([]);
  });

  it("asks a source without topics about its options", () => {
    const of = (options: object) => document({ ...broadcast, "receivers.0": { id: "in", transport: "http", options } });
    expect(problemsOf(of({ broadcast: false }))).toEqual([]);
    expect(problemsOf(of({ broadcast: true }))).toEqual([
      expect.stringMatching(/every message of receiver "in" and deliver it once more: listen to what/),
    ]);
  });

  it("names the topics that are not shared among others that are", () => {
    const topics = [{ topic: "$share/plant/s/#" }, { topic: "t/#" }];
    expect(problemsOf(document({ ...broadcast, "receivers.0.topics": topics }))).toEqual([
      expect.stringContaining('receiver "in" ("t/#")'),
    ]);
  });
});

describe("a route over two exclusive sessions", () => {
  const over = {
    ...CLUSTER,
    "sessions.1": { ...(goodDocument()["sessions"] as Json[])[0], id: "other", session_mode: "exclusive" },
    "senders.0": { id: "out", session_id: "other" },
    "bindings.0.address": "out",
  };

  it("is refused in a cluster, where two instances could hold one each", () => {
    expect(problemsOf(document(over))).toEqual([
      'routes[0]: goes over the exclusive sessions "broker" and "other", which different instances may hold at a time: make all but the one that it receives from persistent',
    ]);
    expect(problemsOf(document({ ...over, "bridge.deployment_mode": "standalone" }))).toEqual([]);
    expect(
      problemsOf(
        document({
          ...over,
          "senders.0.session_id": "broker",
          sessions: [over["sessions.1"] as Json, { ...over["sessions.1"], id: "broker" }],
        }),
      ),
    ).toEqual([]);
  });
});
