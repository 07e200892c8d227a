import type { BridgeStats, BridgeView } from "@bridge/core";
import { describe, expect, test } from "vitest";
import { exposition, type Family, renderMetrics } from "../src/index.ts";
import { parseExposition } from "@bridge/tooling/parse-exposition";
import { leg, stats, view } from "./samples.ts";

/** The samples of one histogram without its name, each as text. */
function samples(name: string, some: Partial<BridgeStats> = {}, seen: Partial<BridgeView> = {}): readonly string[] {
  const family = parseExposition(renderMetrics({ ...stats, ...some }, { ...view, ...seen })).get(name);
  expect(family?.type).toBe("histogram");
  return (family?.samples ?? []).map((sample) => {
    const labels = Object.entries(sample.labels).map(([label, value]) => `${label}=${value}`);
    return `${sample.name.slice(name.length + 1)} ${labels.join(" ")}: ${sample.value}`;
  });
}

const boxed = { routes: view.routes.map((route) => ({ ...route, deliveryMode: "shared_outbox" as const })) };

describe("histograms", () => {
  test("buckets are told in seconds, each with all that is below it", () => {
    expect(samples("bridge_end_to_end_duration_seconds")).toEqual([
      "bucket route=alarms binding=to-out le=0.0025: 37",
      "bucket route=alarms binding=to-out le=1: 37",
      "bucket route=alarms binding=to-out le=+Inf: 75",
      "sum route=alarms binding=to-out: 39.5",
      "count route=alarms binding=to-out: 75",
    ]);
  });

  test("sends are told apart by how they ended", () => {
    const ends = samples("bridge_send_duration_seconds").filter((sample) => !sample.startsWith("bucket"));
    expect(ends).toEqual([
      "sum route=alarms binding=to-out outcome=accepted: 34",
      "count route=alarms binding=to-out outcome=accepted: 96",
      "sum route=alarms binding=to-out outcome=failed: 0.036",
      "count route=alarms binding=to-out outcome=failed: 35",
    ]);
  });

  test("a hold is the route's", () => {
    expect(samples("bridge_hold_duration_seconds")).toContain("count route=alarms: 89");
  });

  test("ages in the outbox are those of routes that have one, and of those that had", () => {
    const name = "bridge_outbox_delivery_age_seconds";
    expect(samples(name, {}, boxed)).toContain("count route=alarms binding=to-out: 123");
    expect(samples(name)).toContain("count route=alarms binding=to-out: 123");
    const unused = { legs: [leg({ routeId: "alarms" })] };
    expect(samples(name, unused)).toEqual([]);
    expect(samples(name, unused, boxed)).toEqual([]);
  });

  test("what ended before a binding was chosen was never sent; what routes sent that are gone was", () => {
    const legs = [leg({ bindingId: "" }), leg({ routeId: "", bindingId: "" })];
    expect(samples("bridge_end_to_end_duration_seconds", { legs })).toEqual([]);
  });

  test("finding 5.7: what was never observed is left out", () => {
    const sample = (n: number) => ({
      labels: { route: `route-${n}` },
      bounds: [0.1, 1],
      counts: n < 2_000 ? [1, 2, 3] : [0, 0, 0],
      sum: 1,
    });
    const all = Array.from({ length: 10_000 }, (_, n) => sample(n));
    const families: readonly Family[] = [{ name: "bridge_x", type: "histogram", help: "X.", samples: all }];
    const text = exposition(families);
    expect(text.match(/_count\{/g)).toHaveLength(2_000);
    expect(text).toContain('bridge_x_bucket{route="route-7",le="1"} 3\n');
  });
});
