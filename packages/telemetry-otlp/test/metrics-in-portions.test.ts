import { silentLogger, systemClock } from "@bridge/ports";
import type { Family } from "@bridge/telemetry";
import type { HrTime } from "@opentelemetry/api";
import { ExportResultCode } from "@opentelemetry/core";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { DataPointType, type ResourceMetrics } from "@opentelemetry/sdk-metrics";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ExportCounts } from "../src/export-counts.ts";
import { MetricsExport } from "../src/metrics/metrics-export.ts";
import { bound } from "./support/traced-bridge.ts";

/** What counts: a counter and a histogram for each of so many routes. */
class Counted {
  readonly values: number[];

  constructor(routes: number) {
    this.values = Array.from({ length: routes }, () => 0);
  }

  families(): readonly Family[] {
    const each = this.values.map((value, route) => ({ labels: { route: String(route) }, value }));
    return [
      { name: "bridge_none_total", type: "counter", help: "None.", samples: [] },
      { name: "bridge_sum_total", type: "counter", help: "X.", samples: each },
      {
        name: "bridge_time_seconds",
        type: "histogram",
        help: "X.",
        samples: each.map(({ labels, value }) => ({ labels, bounds: [1], counts: [value, 2 * value], sum: 3 * value })),
      },
    ];
  }
}

interface Point {
  readonly value: number;
  readonly start: HrTime;
  readonly end: HrTime;
}

/** A collector that keeps the points of what it takes, by series. */
class Taker {
  readonly sizes: number[] = [];
  readonly series = new Map<string, Point[]>();
  atOnce = 0;
  mostAtOnce = 0;
  /** The request of this number, from now on, is refused. */
  refuses = Infinity;

  export(metrics: ResourceMetrics, done: (result: { code: ExportResultCode; error?: Error }) => void): void {
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.atOnce);
    setImmediate(() => {
      this.atOnce--;
      this.#take(metrics, done);
    });
  }

  #take(metrics: ResourceMetrics, done: (result: { code: ExportResultCode; error?: Error }) => void): void {
    const all = metrics.scopeMetrics.flatMap((scope) => scope.metrics);
    this.sizes.push(all.reduce((sum, { dataPoints }) => sum + dataPoints.length, 0));
    if (this.refuses-- === 0) return done({ code: ExportResultCode.FAILED, error: new Error("refused") });
    for (const { descriptor, dataPointType, dataPoints } of all) {
      for (const { attributes, value, startTime, endTime } of dataPoints) {
        const key = `${descriptor.name} ${String(attributes["route"])}`;
        const number = dataPointType === DataPointType.HISTOGRAM ? (value as { sum: number }).sum / 3 : Number(value);
        const points = this.series.get(key) ?? [];
        this.series.set(key, [...points, { value: number, start: startTime, end: endTime }]);
      }
    }
    done({ code: ExportResultCode.SUCCESS });
  }
}

function exporting(counted: Counted, exporter: Taker, temporality: "delta" | "cumulative", portion: number) {
  let now = 1_000;
  return new MetricsExport({
    settings: { intervalMs: 1_000, temporality },
    exporter,
    resource: resourceFromAttributes({}),
    read: async () => counted.families(),
    counts: new ExportCounts(
      silentLogger,
      () => 0,
      () => "here",
    ),
    clock: { ...systemClock, now: () => (now += 1_000) },
    portion,
  });
}

/** By the clock of the exports. */
const STARTED: HrTime = [2, 0];

const steps = fc.array(
  fc.record({ grows: fc.array(fc.nat(20), { minLength: 1, maxLength: 7 }), refuses: fc.option(fc.nat(9)) }),
  { minLength: 1, maxLength: 8 },
);

describe("finding 5.7: metrics over OTLP go in portions", () => {
  test.each(["delta", "cumulative"] as const)(
    "of so many points at most, and whichever of them is refused, each is counted once (%s)",
    async (temporality) => {
      await fc.assert(
        fc.asyncProperty(steps, fc.integer({ min: 1, max: 6 }), async (all, portion) => {
          const counted = new Counted(7);
          const taker = new Taker();
          const metrics = exporting(counted, taker, temporality, portion);
          for (const { grows, refuses } of [...all, { grows: [], refuses: null }]) {
            for (const [route, by] of grows.entries()) counted.values[route] = (counted.values[route] ?? 0) + by;
            taker.refuses = refuses ?? Infinity;
            // The flush of the end may come again.
            await metrics.stop(bound()).catch(() => {});
          }
          expect(Math.max(...taker.sizes)).toBeLessThanOrEqual(portion);
          expect(taker.mostAtOnce).toBeLessThanOrEqual(4);
          for (const [route, value] of counted.values.entries()) {
            for (const name of ["bridge.sum", "bridge.time"]) {
              const points = taker.series.get(`${name} ${route}`) ?? [];
              const sum = points.reduce((told, point) => told + point.value, 0);
              expect(temporality === "delta" ? sum : points.at(-1)?.value).toBe(value);
              // Each begins where the one before it has ended; all of what is cumulative at the start.
              for (const [index, { start }] of points.entries())
                expect(start).toEqual(temporality === "delta" ? (points[index - 1]?.end ?? STARTED) : STARTED);
            }
          }
        }),
      );
    },
  );

  test("nothing to tell is told, too: a collector that does not take it is known", async () => {
    const taker = new Taker();
    const metrics = exporting(new Counted(0), taker, "delta", 10);
    await metrics.stop(bound());
    expect(taker.sizes).toEqual([0]);
    taker.refuses = 0;
    await expect(metrics.stop(bound())).rejects.toThrow("refused");
  });
});
