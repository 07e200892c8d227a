import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NAMESPACE } from "../src/metrics.ts";
import { alarmMetrics } from "./support/alarm-metrics.ts";
import { KEY, Place } from "./support/place.ts";
import { EXAMPLE, synthesized } from "./support/synthesized.ts";

/** One route, on which what is no JSON object is dead-lettered. */
const CONFIGURATION = {
  bridge: { id: EXAMPLE.bridge_id },
  stores: {
    dlq: { type: "memory", options: { acknowledge_volatile: true } },
    outbox: { type: "memory", options: { acknowledge_volatile: true } },
  },
  receivers: [{ id: "in", transport: "memory", options: { channel: "in" } }],
  senders: [{ id: "out", transport: "memory", options: { channel: "out" } }],
  bindings: [{ id: "to-out", sender_id: "out" }],
  processors: [{ id: "objects", type: "schema", options: { schema: { type: "object" } } }],
  routes: [
    { id: "only", receiver_id: "in", delivery_mode: "shared_outbox", processors: ["objects"], bindings: ["to-out"] },
  ],
};

type Line = Readonly<Record<string, unknown>> & {
  readonly _aws: {
    readonly CloudWatchMetrics: readonly [
      {
        readonly Namespace: string;
        readonly Dimensions: readonly [readonly string[]];
        readonly Metrics: readonly { readonly Name: string }[];
      },
    ];
  };
};

test("the metrics that alarms look at are written by the bridge, with these dimensions", async () => {
  await using place = await Place.open();
  writeFileSync(join(place.path, "bridge.json"), JSON.stringify(CONFIGURATION));
  const bootstrap = {
    bridge_id: EXAMPLE.bridge_id,
    config_source: "file",
    config_file_path: "bridge.json",
    admin_api_key_param: EXAMPLE.admin_api_key_param,
    admin_addr: "127.0.0.1:0",
    monitor_addr: "127.0.0.1:0",
    metrics_namespace: NAMESPACE,
    metrics_interval: "50ms",
  };
  await using bridge = place.run(JSON.stringify(bootstrap));
  await bridge.logged("bridge started");
  const injected = await fetch(`${await bridge.url("admin")}/api/v1/admin/routes/only/inject`, {
    method: "POST",
    headers: { "X-API-Key": KEY },
    body: JSON.stringify({ subject: "s", payload: "" }),
  });
  expect(await injected.json()).toMatchObject({ reason: "dead_lettered" });
  bridge.kill("SIGTERM");
  expect(await bridge.ended).toBe(0);

  const lines = bridge.stdout
    .split("\n")
    .slice(0, -1)
    .map((text) => JSON.parse(text) as Line);
  const metrics = alarmMetrics(synthesized(), NAMESPACE);
  expect(metrics.length).toBeGreaterThan(6);
  for (const { alarm, name, dimensions, values } of metrics) {
    const told = lines.filter(
      ({
        _aws: {
          CloudWatchMetrics: [directive],
        },
      }) => {
        const { Namespace, Dimensions, Metrics } = directive;
        const same = JSON.stringify(Dimensions[0].toSorted()) === JSON.stringify(dimensions);
        return Namespace === NAMESPACE && same && Metrics.some(({ Name }) => Name === name);
      },
    );
    const fits = told.some((line) => Object.entries(values).every(([key, value]) => line[key] === value));
    expect({ alarm, name, fits }).toEqual({ alarm, name, fits: true });
  }
});
