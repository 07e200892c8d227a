import { silentLogger, systemClock } from "@bridge/ports";
import type { Family } from "@bridge/telemetry";
import { OtlpCollector } from "@bridge/tooling/otlp-collector";
import { describe, expect, test } from "vitest";
import { openOtlp } from "../src/open-otlp.ts";
import { bound, SECTION, tracedBridge } from "./support/traced-bridge.ts";

const REDRIVES = "bridge_dlq_redrive_failures_total";

interface Counted {
  redriveFailures: number;
  age: number;
  counts: readonly number[];
  sum: number;
}

/** An export of a counter, a gauge and a histogram, that a test moves. */
function exporting(collector: OtlpCollector, temporality: "cumulative" | "delta", counted: Counted) {
  const families = (): readonly Family[] => [
    { name: REDRIVES, type: "counter", help: "Failed.", samples: [{ labels: {}, value: counted.redriveFailures }] },
    {
      name: "bridge_age_seconds",
      type: "gauge",
      help: "Old.",
      samples: [{ labels: { route: "r" }, value: counted.age }],
    },
    {
      name: "bridge_send_duration_seconds",
      type: "histogram",
      help: "Slow.",
      samples: [{ labels: { route: "r" }, bounds: [0.1, 1], counts: counted.counts, sum: counted.sum }],
    },
    { name: "bridge_nothing_total", type: "counter", help: "None.", samples: [] },
  ];
  const { exports } = openOtlp({
    bridgeId: "plant",
    instanceId: "plant-a",
    version: undefined,
    env: {},
    clock: systemClock,
    logger: silentLogger,
    readMetrics: () => Promise.resolve(families()),
    section: {
      ...SECTION,
      endpoint: collector.url,
      traces: { ...SECTION.traces, enabled: false },
      metrics: { enabled: true, intervalMs: 20, temporality },
    },
  });
  const [metrics = expect.fail("metrics are not exported")] = exports;
  return metrics;
}

async function next(collector: OtlpCollector): Promise<void> {
  // One that was being read when the test counted may not have it yet.
  const { length } = collector.exports;
  await collector.until(({ exports }) => exports.length >= length + 2);
}

describe("metrics over OTLP", () => {
  test("are the families: sums, gauges and histograms, cumulative, under names that make the same Prometheus text", async () => {
    await using collector = await OtlpCollector.open();
    const counted: Counted = { redriveFailures: 3, age: 4.5, counts: [1, 2, 1], sum: 9 };
    const metrics = exporting(collector, "cumulative", counted);
    const before = BigInt(Date.now()) * 1_000_000n;
    metrics.start();
    await next(collector);
    const redrives = collector.metric("DLQRedriveFailures");
    expect(redrives).toMatchObject({
      kind: "sum",
      monotonic: true,
      temporality: "cumulative",
      unit: "",
      description: "Failed.",
      points: [{ value: 3, attributes: {} }],
      resource: { "service.name": "plant", "service.instance.id": "plant-a" },
    });
    expect(collector.metric("bridge.age")).toMatchObject({
      kind: "gauge",
      unit: "s",
      points: [{ value: 4.5, attributes: { route: "r" } }],
    });
    expect(collector.metric("bridge.send_duration")).toMatchObject({
      kind: "histogram",
      unit: "s",
      temporality: "cumulative",
      points: [{ bounds: [0.1, 1], counts: [1, 2, 1], count: 4, sum: 9, attributes: { route: "r" } }],
    });
    expect(collector.metric("bridge.nothing")).toBeUndefined();
    const [first] = redrives?.points ?? [];
    expect(first?.start).toBeGreaterThan(before - 60_000_000_000n);
    expect(first?.time).toBeGreaterThanOrEqual(first?.start ?? 0n);

    counted.redriveFailures = 5;
    await next(collector);
    const [second] = collector.metric("DLQRedriveFailures")?.points ?? [];
    expect(second).toMatchObject({ value: 5, start: first?.start });
    await metrics.stop(bound());
  });

  test("as deltas add up to what was counted, whatever the collector refuses meanwhile", async () => {
    await using collector = await OtlpCollector.open();
    const counted: Counted = { redriveFailures: 2, age: 1, counts: [1, 0, 0], sum: 0.05 };
    const metrics = exporting(collector, "delta", counted);
    metrics.start();
    await next(collector);
    collector.mood = 400;
    Object.assign(counted, { redriveFailures: 7, counts: [1, 4, 2], sum: 20 });
    const { length } = collector.requests;
    await collector.until(({ requests }) => requests.length >= length + 2);
    collector.mood = "takes";
    counted.redriveFailures = 9;
    await metrics.stop(bound());

    const all = collector.exports.flat();
    const sums = all.filter(({ name }) => name === "DLQRedriveFailures");
    expect(new Set(sums.map(({ temporality }) => temporality))).toEqual(new Set(["delta"]));
    expect(sums.reduce((sum, { points }) => sum + (points[0]?.value ?? 0), 0)).toBe(9);
    const histograms = all.filter(({ name }) => name === "bridge.send_duration").flatMap(({ points }) => points);
    const buckets = [0, 1, 2].map((bucket) => histograms.reduce((sum, { counts }) => sum + (counts[bucket] ?? 0), 0));
    expect(buckets).toEqual([1, 4, 2]);
    expect(histograms.reduce((sum, point) => sum + point.sum, 0)).toBeCloseTo(20);
    const points = sums.flatMap((metric) => metric.points);
    for (const [at, point] of points.entries()) if (at > 0) expect(point.start).toBe(points[at - 1]?.time);
  });

  test("that cannot be flushed at the end are an error", async () => {
    await using collector = await OtlpCollector.open();
    collector.mood = 400;
    const metrics = exporting(collector, "cumulative", { redriveFailures: 0, age: 0, counts: [0, 0, 0], sum: 0 });
    metrics.start();
    await expect(metrics.stop(bound())).rejects.toThrow("Bad Request (status 400)");
    expect(metrics.name).toBe("OTLP metrics flush");
  });

  test("of a bridge hold its legs and its latency", async () => {
    await using collector = await OtlpCollector.open();
    const section = { endpoint: collector.url, traces: { ...SECTION.traces, enabled: false } };
    await using bridge = await tracedBridge(section);
    for (let at = 0; at < 5; at++) bridge.hub.publish("in", { id: `m${at}` });
    await bridge.hub.channel("in").waitForSettlements(5, bound());
    await bridge.end();
    const delivered = collector
      .metric("bridge.legs")
      ?.points.find(
        ({ attributes }) => attributes["disposition"] === "delivered" && attributes["binding"] === "to-out",
      );
    expect(delivered).toMatchObject({ value: 5, attributes: { route: "r" } });
    const histograms = collector.exports.flat().filter(({ kind }) => kind === "histogram");
    expect(histograms.flatMap(({ points }) => points).some(({ count }) => count === 5)).toBe(true);
    for (const { points } of histograms) {
      for (const { counts, bounds, count } of points) {
        expect(counts).toHaveLength(bounds.length + 1);
        expect(counts.reduce((sum, one) => sum + one, 0)).toBe(count);
      }
    }
  });
});
