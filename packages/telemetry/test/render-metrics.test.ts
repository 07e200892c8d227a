import { type BridgeStats, type BridgeView, DISPOSITIONS, READINESS_LEVELS } from "@bridge/core";
import { describe, expect, test } from "vitest";
import { renderMetrics } from "../src/index.ts";
import { exposition } from "../src/exposition.ts";
import { type ParsedFamily, parseExposition } from "@bridge/tooling/parse-exposition";
import { leg, session, stats, view, waiting } from "./samples.ts";

const auditFailures = new Map([
  ["log", 0],
  ["file", 23],
]);

const config = {
  reloads: { applied: 61, accepted: 0, refused: 62, failed: 63 },
  lastReloadAt: 1_900_000_000_250,
  failing: true,
  transactions: { committed: 64, rolled_back: 65 },
  confirmBy: 1_900_000_300_500,
  reverts: { level: 66, operator: 67 },
};

const read = (some: Partial<BridgeStats> = {}, seen: Partial<BridgeView> = {}): ReadonlyMap<string, ParsedFamily> =>
  parseExposition(
    renderMetrics(
      { ...stats, ...some },
      { ...view, ...seen },
      { auditFailures, keyRefreshFailures: 24, waiting, config },
    ),
  );

const values = (family: ParsedFamily | undefined, label: string): Record<string, number> =>
  Object.fromEntries((family?.samples ?? []).map(({ labels, value }) => [labels[label] ?? "", value]));

const only = (family: ParsedFamily | undefined): number | undefined => {
  expect(family?.samples).toHaveLength(1);
  return family?.samples[0]?.value;
};

describe("the table of metrics", () => {
  test("every name has the prefix, counters end in _total and nothing else does", () => {
    for (const [name, { type, help }] of read()) {
      expect(name).toMatch(/^bridge_[a-z_]+$/);
      expect({ name, ends: name.endsWith("_total") }).toEqual({ name, ends: type === "counter" });
      expect(help).toMatch(/\.$/);
    }
  });

  test("each metric has the type and the labels that dashboards rely on", () => {
    const boxed = view.routes.map((route) => ({ ...route, deliveryMode: "shared_outbox" as const }));
    const shape = [...read({}, { routes: boxed })].map(([name, { type, samples }]) => {
      const labels = new Set(
        samples.map((sample) =>
          Object.keys(sample.labels)
            .filter((label) => label !== "le")
            .join(" "),
        ),
      );
      expect([...labels]).toHaveLength(1);
      return `${name} ${type} ${[...labels].join()}`.trim();
    });
    expect(shape).toEqual([
      "bridge_info gauge instance_id role",
      "bridge_running gauge",
      "bridge_healthy gauge",
      "bridge_failed_components gauge",
      "bridge_ready gauge level",
      "bridge_dlq_redrives_total counter",
      "bridge_dlq_redrive_failures_total counter",
      "bridge_hook_events_lost_total counter hook",
      "bridge_hook_failures_total counter hook",
      "bridge_dlq_jobs gauge kind state",
      "bridge_dlq_job_entries_total counter kind outcome",
      "bridge_dlq_job_halts_total counter why",
      "bridge_dlq_job_adoptions_total counter",
      "bridge_dlq_trash_entries gauge",
      "bridge_config_version gauge",
      "bridge_config_restart_required gauge",
      "bridge_config_failing gauge",
      "bridge_config_reloads_total counter outcome",
      "bridge_config_last_reload_timestamp_seconds gauge",
      "bridge_config_transactions_total counter outcome",
      "bridge_config_probation gauge",
      "bridge_config_probation_end_timestamp_seconds gauge",
      "bridge_config_reverts_total counter why",
      "bridge_legs_received_total counter route binding",
      "bridge_legs_injected_total counter route binding",
      "bridge_legs_recovered_total counter route binding",
      "bridge_legs_in_outbox gauge route binding",
      "bridge_legs_total counter route binding disposition",
      "bridge_legs_in_flight gauge route binding",
      "bridge_attempts_total counter route binding",
      "bridge_unaccounted_messages gauge",
      "bridge_send_duration_seconds histogram route binding outcome",
      "bridge_end_to_end_duration_seconds histogram route binding",
      "bridge_hold_duration_seconds histogram route",
      "bridge_outbox_delivery_age_seconds histogram route binding",
      "bridge_route_paused gauge route",
      "bridge_route_progress gauge route state",
      "bridge_route_oldest_unsettled_seconds gauge route",
      "bridge_route_failure_ratio gauge route",
      "bridge_deliveries_in_flight gauge route",
      "bridge_route_max_in_flight gauge route",
      "bridge_route_max_outbox_depth gauge route",
      "bridge_dlq_write_failures_total counter route",
      "bridge_outbox_write_failures_total counter route",
      "bridge_settle_failures_total counter route",
      "bridge_outbox_oldest_age_seconds gauge route binding",
      "bridge_store_writable gauge store",
      "bridge_store_set_aside_files gauge store",
      "bridge_store_spoiled_records gauge store",
      "bridge_session_connected gauge session",
      "bridge_session_connects_total counter session",
      "bridge_session_failures_total counter session",
      "bridge_session_subscriptions_wanted gauge session",
      "bridge_session_subscriptions_active gauge session",
      "bridge_session_has_lease gauge session",
      "bridge_lease_state gauge session state",
      "bridge_lease_acquisitions_total counter session",
      "bridge_lease_losses_total counter session",
      "bridge_lease_yields_total counter session",
      "bridge_lease_renewal_failures_total counter session",
      "bridge_audit_failures_total counter sink",
      "bridge_key_refresh_failures_total counter",
      "bridge_adapter untyped part id counter",
    ]);
  });

  test("what only an open store knows has no sample while it is not open, and says 0 of nothing", () => {
    const OF_STORES = ["bridge_legs_in_outbox", "bridge_store_set_aside_files", "bridge_store_spoiled_records"];
    const roles = ["dlq", "outbox", "lease"] as const;
    for (let bits = 0; bits < 2 ** roles.length; bits++) {
      const open = new Set(roles.filter((_, index) => bits & (1 << index)));
      const stores = roles.map((role) => ({
        role,
        type: "file",
        state: open.has(role) ? ("up" as const) : ("opening" as const),
        open: open.has(role),
        setAside: [],
      }));
      const metrics = read({}, { stores });
      const [legs, ...ofStores] = OF_STORES.map((name) => metrics.get(name)?.samples ?? []);
      expect(legs).toHaveLength(open.has("outbox") ? 2 : 0);
      for (const samples of ofStores) expect(new Set(samples.map(({ labels }) => labels["store"]))).toEqual(open);
      expect(values(metrics.get("bridge_store_writable"), "store")).toEqual(
        Object.fromEntries(roles.map((role) => [role, Number(open.has(role))])),
      );
    }
  });

  test("every number comes out under its own name", () => {
    const metrics = read();
    expect(values(metrics.get("bridge_legs_received_total"), "binding")).toEqual({ "to-out": 101, "": 6 });
    expect(values(metrics.get("bridge_legs_injected_total"), "binding")).toEqual({ "to-out": 7, "": 0 });
    expect(values(metrics.get("bridge_legs_recovered_total"), "binding")).toEqual({ "to-out": 21, "": 0 });
    expect(values(metrics.get("bridge_legs_in_outbox"), "binding")).toEqual({ "to-out": 22, "": 0 });
    expect(values(metrics.get("bridge_legs_in_flight"), "binding")).toEqual({ "to-out": 3, "": 0 });
    expect(values(metrics.get("bridge_attempts_total"), "binding")).toEqual({ "to-out": 130, "": 0 });
    expect(values(metrics.get("bridge_deliveries_in_flight"), "route")).toEqual({ alarms: 9 });
    expect(values(metrics.get("bridge_dlq_write_failures_total"), "route")).toEqual({ alarms: 12 });
    expect(values(metrics.get("bridge_outbox_write_failures_total"), "route")).toEqual({ alarms: 23 });
    expect(values(metrics.get("bridge_settle_failures_total"), "route")).toEqual({ alarms: 13 });
    expect(values(metrics.get("bridge_session_connected"), "session")).toEqual({ broker: 1 });
    expect(values(metrics.get("bridge_session_connects_total"), "session")).toEqual({ broker: 14 });
    expect(values(metrics.get("bridge_session_failures_total"), "session")).toEqual({ broker: 15 });
    expect(values(metrics.get("bridge_session_has_lease"), "session")).toEqual({ broker: 1 });
    expect(values(metrics.get("bridge_lease_acquisitions_total"), "session")).toEqual({ broker: 24 });
    expect(values(metrics.get("bridge_lease_losses_total"), "session")).toEqual({ broker: 25 });
    expect(values(metrics.get("bridge_lease_yields_total"), "session")).toEqual({ broker: 1 });
    expect(values(metrics.get("bridge_lease_renewal_failures_total"), "session")).toEqual({ broker: 26 });
    expect(values(metrics.get("bridge_session_subscriptions_wanted"), "session")).toEqual({ broker: 21 });
    expect(values(metrics.get("bridge_session_subscriptions_active"), "session")).toEqual({ broker: 22 });
    expect(values(metrics.get("bridge_adapter"), "counter")).toEqual({ resent: 16, reconnects: 17, bytes: 18 });
    expect(values(metrics.get("bridge_audit_failures_total"), "sink")).toEqual({ log: 0, file: 23 });
    expect(only(metrics.get("bridge_dlq_redrives_total"))).toBe(19);
    expect(only(metrics.get("bridge_dlq_jobs"))).toBe(2);
    expect(only(metrics.get("bridge_dlq_job_entries_total"))).toBe(16);
    expect(only(metrics.get("bridge_dlq_job_halts_total"))).toBe(4);
    expect(only(metrics.get("bridge_dlq_job_adoptions_total"))).toBe(8);
    expect(only(metrics.get("bridge_dlq_trash_entries"))).toBe(512);
    expect(only(metrics.get("bridge_dlq_redrive_failures_total"))).toBe(20);
    expect(only(metrics.get("bridge_unaccounted_messages"))).toBe(0);
    expect(only(metrics.get("bridge_key_refresh_failures_total"))).toBe(24);
    expect(only(metrics.get("bridge_config_version"))).toBe(3);
  });

  test("what waits in the outbox has an age, also when nobody delivers it; where nothing waits it is 0", () => {
    const some: Partial<BridgeStats> = { legs: [leg({ routeId: "r", bindingId: "b" }), leg({ routeId: "direct" })] };
    const seen = {
      routes: view.routes.map((route) => ({ ...route, id: "r", deliveryMode: "shared_outbox" as const })),
    };
    const ages = values(read(some, seen).get("bridge_outbox_oldest_age_seconds"), "route");
    expect(ages).toEqual({ gone: 24.5, r: 0 });
    const unknown = parseExposition(renderMetrics({ ...stats, ...some }, { ...view, ...seen }));
    expect(unknown.get("bridge_outbox_oldest_age_seconds")?.samples).toEqual([]);
  });

  test("a route tells what it may have in flight, and in the outbox where it has one", () => {
    const [route] = view.routes;
    const { policy } = route ?? {};
    const direct = read();
    expect(values(direct.get("bridge_route_max_in_flight"), "route")).toEqual({ alarms: policy?.maxInFlight });
    expect(direct.get("bridge_route_max_outbox_depth")?.samples).toEqual([]);
    const boxed = read({}, { routes: view.routes.map((one) => ({ ...one, deliveryMode: "shared_outbox" as const })) });
    expect(values(boxed.get("bridge_route_max_outbox_depth"), "route")).toEqual({ alarms: policy?.maxOutboxDepth });
  });

  test("a store that refuses writes, is not open, or has set a damaged file aside", () => {
    const metrics = read();
    expect(values(metrics.get("bridge_store_writable"), "store")).toEqual({ dlq: 1, outbox: 0 });
    expect(values(metrics.get("bridge_store_set_aside_files"), "store")).toEqual({ dlq: 1, outbox: 0 });
    expect(values(metrics.get("bridge_store_spoiled_records"), "store")).toEqual({ dlq: 0, outbox: 3 });
    const closed = read({}, { stores: view.stores.map((store) => ({ ...store, open: false })) });
    expect(values(closed.get("bridge_store_writable"), "store")).toEqual({ dlq: 0, outbox: 0 });
  });

  test("what became of changes of the configuration; nothing where nobody follows them", () => {
    const metrics = read({}, { restartRequired: ["http"] });
    expect(values(metrics.get("bridge_config_reloads_total"), "outcome")).toEqual(config.reloads);
    expect(values(metrics.get("bridge_config_transactions_total"), "outcome")).toEqual(config.transactions);
    expect(only(metrics.get("bridge_config_failing"))).toBe(1);
    expect(only(metrics.get("bridge_config_restart_required"))).toBe(1);
    expect(only(metrics.get("bridge_config_last_reload_timestamp_seconds"))).toBe(1_900_000_000.25);
    expect(only(metrics.get("bridge_config_probation"))).toBe(1);
    expect(only(metrics.get("bridge_config_probation_end_timestamp_seconds"))).toBe(1_900_000_300.5);
    expect(values(metrics.get("bridge_config_reverts_total"), "why")).toEqual(config.reverts);
    const left = { ...config, confirmBy: undefined, leftConfirmBy: 1_900_000_400_500 };
    const elsewhere = parseExposition(renderMetrics(stats, view, { auditFailures, waiting, config: left }));
    expect(only(elsewhere.get("bridge_config_probation"))).toBe(0);
    expect(only(elsewhere.get("bridge_config_probation_end_timestamp_seconds"))).toBe(1_900_000_400.5);
    const unfollowed = parseExposition(renderMetrics(stats, view));
    expect(unfollowed.get("bridge_config_reloads_total")?.samples).toEqual([]);
    expect(unfollowed.get("bridge_config_failing")?.samples).toEqual([]);
    expect(only(unfollowed.get("bridge_config_restart_required"))).toBe(0);
  });

  test.each([
    [{ hasLease: true, leasedElsewhere: false }, "held"],
    [{ hasLease: false, leasedElsewhere: true }, "elsewhere"],
    [{ hasLease: false, leasedElsewhere: false }, "wanted"],
  ])("the lease of a session of which %o is %s", (facts, state) => {
    const metrics = read({}, { sessions: [{ ...session("broker"), ...facts }, session("shared")] });
    expect(metrics.get("bridge_lease_state")?.samples).toHaveLength(3);
    const states = { held: 0, elsewhere: 0, wanted: 0, [state]: 1 };
    expect(values(metrics.get("bridge_lease_state"), "state")).toEqual(states);
  });

  test("every disposition is told apart, those that never happened too", () => {
    const samples = read().get("bridge_legs_total")?.samples ?? [];
    const named = samples.filter((sample) => sample.labels["binding"] === "to-out");
    expect(named.map(({ labels, value }) => [labels["disposition"], value])).toEqual(
      DISPOSITIONS.map((disposition) => [disposition, stats.legs[0]?.dispositions[disposition]]),
    );
  });

  test("an engine that has lost count says so", () => {
    expect(only(read({ unaccounted: -2 }).get("bridge_unaccounted_messages"))).toBe(-2);
  });
});

describe("state", () => {
  test.each(READINESS_LEVELS)("level %s counts as reached together with those below it", (level) => {
    const reached = values(read({}, { level }).get("bridge_ready"), "level");
    const at = READINESS_LEVELS.indexOf(level);
    expect(reached).toEqual(Object.fromEntries(READINESS_LEVELS.map((each, index) => [each, index <= at ? 1 : 0])));
  });

  test.each(["unhealthy", "not_running", "unavailable"] as const)("health %s is not healthy", (health) => {
    expect(only(read({}, { health }).get("bridge_healthy"))).toBe(0);
    expect(only(read({}, { health: "ok" }).get("bridge_healthy"))).toBe(1);
  });

  test("a stopped bridge with failures", () => {
    const metrics = read({}, { running: false, failures: [{ component: "route alarms", error: "no" }] });
    expect(only(metrics.get("bridge_running"))).toBe(0);
    expect(only(metrics.get("bridge_failed_components"))).toBe(1);
  });

  test("an empty bridge has every metric, those of its parts without samples", () => {
    const metrics = read({ legs: [], routes: [], sessions: [], parts: [] }, { sessions: [] });
    expect([...metrics.keys()]).toEqual([...read().keys()]);
    expect(metrics.get("bridge_legs_total")?.samples).toEqual([]);
  });
});

describe("the text", () => {
  test.each(['a"b', "back\\slash", "two\nlines", "\\n", 'ends in \\"', 'a{b="c"},d', "Ünï→code 😀"])(
    "a label value comes back as it went in: %j",
    (id) => {
      const metrics = read({ legs: [leg({ routeId: id, received: 5 })] }, { sessions: [session(id)] });
      expect(values(metrics.get("bridge_legs_received_total"), "route")).toEqual({ [id]: 5 });
      expect(values(metrics.get("bridge_session_has_lease"), "session")).toEqual({ [id]: 1 });
    },
  );

  test("help is kept to one line", () => {
    const text = exposition([{ name: "bridge_x", type: "gauge", help: "one\ntwo \\ three", samples: [] }]);
    expect(parseExposition(text).get("bridge_x")?.help).toBe("one\ntwo \\ three");
  });

  test.each([0, -1.5, 1e21, 1e-7, Infinity, -Infinity, NaN, Number.MAX_SAFE_INTEGER])("the number %d", (value) => {
    const text = exposition([{ name: "bridge_x", type: "gauge", help: "X.", samples: [{ labels: {}, value }] }]);
    expect(parseExposition(text).get("bridge_x")?.samples).toEqual([{ name: "bridge_x", labels: {}, value }]);
  });
});

const histogramWith = (samples: string) => `# HELP a b\n# TYPE a histogram\n${samples}\n`;

describe("the reader of these tests", () => {
  test.each([
    ["an unended line", "# HELP a b\n# TYPE a gauge\na 1", "not ended"],
    ["a type of its own", "# HELP a b\n# TYPE a stateset\n", "has no type"],
    ["no type", "# HELP a b\na 1\n", "has no type"],
    ["a raw quote", '# HELP a b\n# TYPE a gauge\na{l="x"y"} 1\n', "not a set of labels"],
    ["a stray backslash", '# HELP a b\n# TYPE a gauge\na{l="x\\y"} 1\n', "not a set of labels"],
    ["a sample twice", "# HELP a b\n# TYPE a gauge\na 1\na 2\n", "a sample comes twice"],
    ["another's sample", "# HELP a b\n# TYPE a gauge\nb 1\n", "outside its family"],
    ["no number", "# HELP a b\n# TYPE a gauge\na one\n", "not a line"],
    ["a bucket of a gauge", "# HELP a b\n# TYPE a gauge\na_bucket 1\n", "outside its family"],
    ["no last bucket", histogramWith('a_bucket{le="1"} 1\na_sum 1\na_count 1'), "not a histogram"],
    ["another count", histogramWith('a_bucket{le="+Inf"} 1\na_sum 1\na_count 2'), "not a histogram"],
    ["no sum", histogramWith('a_bucket{le="+Inf"} 1\na_count 1'), "not a histogram"],
    [
      "falling buckets",
      histogramWith('a_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1'),
      "not a histogram",
    ],
    [
      "falling bounds",
      histogramWith('a_bucket{le="2"} 1\na_bucket{le="1"} 1\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1'),
      "not a histogram",
    ],
    ["a label twice", '# HELP a b\n# TYPE a gauge\na{l="1",l="2"} 1\n', "the label l comes twice"],
  ])("refuses %s", (_, text, why) => {
    expect(() => parseExposition(text)).toThrow(why);
  });
});
