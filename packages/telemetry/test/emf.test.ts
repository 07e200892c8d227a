import { PATIENCE } from "@bridge/tooling/patience";
import { silentLogger, systemClock } from "@bridge/ports";
import { describe, expect, test, vi } from "vitest";
import { EmfLines } from "../src/emf/emf-lines.ts";
import { EmfExporter, type Family, type HistogramFamily, type NumberFamily } from "../src/index.ts";
import { metricFamilies } from "../src/render-metrics.ts";
import { stats, view, waiting } from "./samples.ts";

const FRAME = { namespace: "Bridge", dimensions: { BridgeId: "plant-7" }, properties: { InstanceId: "plant-7-a" } };
const AT = 1_760_000_000_000;

interface EmfLine extends Record<string, unknown> {
  _aws: {
    Timestamp: number;
    CloudWatchMetrics: { Namespace: string; Dimensions: string[][]; Metrics: { Name: string; Unit: string }[] }[];
  };
}

/** As CloudWatch reads it: each metric has a number, each dimension a text, and there are not too many of either. */
function parse(lines: readonly string[]) {
  return lines.flatMap((text) => {
    expect(text).not.toContain("\n");
    const line = JSON.parse(text) as EmfLine;
    const { _aws: meta } = line;
    const [{ Namespace, Dimensions, Metrics }, ...more] = meta.CloudWatchMetrics as [
      EmfLine["_aws"]["CloudWatchMetrics"][0],
    ];
    expect(more).toEqual([]);
    expect(Namespace).toBe("Bridge");
    expect(line["InstanceId"]).toBe("plant-7-a");
    const [names = [], ...others] = Dimensions;
    expect(others).toEqual([]);
    expect(names.length).toBeLessThanOrEqual(30);
    expect(Metrics.length).toBeGreaterThan(0);
    expect(Metrics.length).toBeLessThanOrEqual(100);
    expect(new Set(Metrics.map(({ Name }) => Name)).size).toBe(Metrics.length);
    const dimensions = Object.fromEntries(names.map((name) => [name, line[name]]));
    for (const value of Object.values(dimensions)) expect(value).toMatch(/^[\x20-\x7e]+$/);
    return Metrics.map(({ Name, Unit }) => {
      const value = line[Name] as number | { Values: number[]; Counts: number[] };
      if (typeof value === "object") {
        expect(Object.keys(value)).toEqual(["Values", "Counts"]);
        expect(value.Values.length).toBe(value.Counts.length);
        expect(value.Values.length).toBeLessThanOrEqual(100);
        expect(new Set(value.Values).size).toBe(value.Values.length);
        for (const count of value.Counts) expect(count).toBeGreaterThan(0);
      } else expect(value).toEqual(expect.any(Number));
      return { name: Name, unit: Unit, value, dimensions, at: meta.Timestamp };
    });
  });
}

const counter = (name: string, value: number, labels: Record<string, string> = {}): NumberFamily => ({
  name,
  type: "counter",
  help: "",
  samples: [{ labels, value }],
});

const durations = (counts: readonly number[]): HistogramFamily => ({
  name: "bridge_hold_duration_seconds",
  type: "histogram",
  help: "",
  samples: [{ labels: { route: "r" }, bounds: [1, 2, 10], counts, sum: 0 }],
});

describe("CloudWatch's embedded metric format", () => {
  test("names everything that the bridge counts, by itself and by part", () => {
    const metrics = parse(new EmfLines(FRAME).next(metricFamilies(stats, view, { waiting }), AT));
    expect(metrics).toContainEqual({
      name: "UnaccountedMessages",
      unit: "None",
      value: stats.unaccounted,
      dimensions: { BridgeId: "plant-7" },
      at: AT,
    });
    const named = metrics.map(({ name, dimensions }) => JSON.stringify([name, dimensions]));
    expect(new Set(named).size).toBe(named.length);
    expect(metrics.some(({ dimensions }) => "InstanceId" in dimensions || "instance_id" in dimensions)).toBe(false);
    expect(metrics.find(({ name }) => name === "OutboxOldestAge")).toMatchObject({ unit: "Seconds" });
  });

  test("spec 6: DLQRedriveFailures keeps its name, and is told also while it does not move", () => {
    const lines = new EmfLines(FRAME);
    const redrives = (value: number) => parse(lines.next([counter("bridge_dlq_redrive_failures_total", value)], AT));
    expect(redrives(3)).toMatchObject([{ name: "DLQRedriveFailures", unit: "Count", value: 3 }]);
    lines.told();
    expect(redrives(3)).toMatchObject([{ value: 0 }]);
    expect(redrives(5)).toMatchObject([{ value: 2 }]);
  });

  test("tells what counters grew by, again until it was handed over, and from the start after a fall", () => {
    const lines = new EmfLines(FRAME);
    const told = (value: number) =>
      parse(lines.next([counter("bridge_attempts_total", value, { route: "r", binding: "" })], AT)).map(
        (metric) => metric.value,
      );
    expect(told(3)).toEqual([3]);
    expect(told(5)).toEqual([5]);
    lines.told();
    expect(told(5)).toEqual([]);
    expect(told(6)).toEqual([1]);
    lines.told();
    expect(told(2)).toEqual([2]);
  });

  test("tells what a histogram grew by, as middles of buckets and how often; again until it was handed over", () => {
    const lines = new EmfLines(FRAME);
    const told = (...counts: number[]) => parse(lines.next([durations(counts)], AT));
    const dimensions = { BridgeId: "plant-7", Route: "r" };
    const first = { name: "HoldDuration", unit: "Seconds", dimensions, at: AT };
    expect(told(0, 0, 0, 0)).toEqual([]);
    expect(told(1, 0, 3, 2)).toEqual([{ ...first, value: { Values: [0.5, 6, 10], Counts: [1, 3, 2] } }]);
    expect(told(1, 4, 3, 2)).toMatchObject([{ value: { Values: [0.5, 1.5, 6, 10], Counts: [1, 4, 3, 2] } }]);
    lines.told();
    expect(told(1, 4, 3, 2)).toEqual([]);
    expect(told(1, 4, 5, 2)).toMatchObject([{ value: { Values: [6], Counts: [2] } }]);
    expect(told(0, 9, 0, 0)).toMatchObject([{ value: { Values: [1.5], Counts: [9] } }]);
  });

  test("the unit is that of the name", () => {
    const gauge = (name: string): Family => ({ ...counter(name, 5), type: "gauge" });
    const families = [
      counter("process_cpu_seconds_total", 1),
      gauge("process_heap_bytes"),
      counter("bridge_x_total", 1),
    ];
    const units = parse(new EmfLines(FRAME).next(families, AT)).map(({ name, unit }) => `${name} ${unit}`);
    expect(units).toEqual(["ProcessCpu Seconds", "ProcessHeap Bytes", "X Count"]);
  });

  test("an empty label is a dimension all the same", () => {
    const family = counter("bridge_attempts_total", 1, { route: "r", binding: "" });
    expect(parse(new EmfLines(FRAME).next([family], AT))).toMatchObject([
      { dimensions: { BridgeId: "plant-7", Route: "r", Binding: "none" } },
    ]);
  });

  test("what is no number is not told", () => {
    const odd: Family = { ...counter("bridge_odd", Number.NaN), type: "gauge" };
    expect(new EmfLines(FRAME).next([odd], AT)).toEqual([]);
  });

  test("is bounded: what goes beyond is counted", () => {
    const labels = Array.from({ length: 600 }, (_, index) => ({ labels: { route: `r${index}` }, value: 1 }));
    const many: Family = { name: "bridge_deliveries_in_flight", type: "gauge", help: "", samples: labels };
    const metrics = parse(new EmfLines(FRAME).next([many], AT));
    expect(metrics).toHaveLength(501);
    expect(metrics.at(-1)).toMatchObject({ name: "MetricsLeftOut", value: 100, dimensions: { BridgeId: "plant-7" } });
  });
});

describe("the exporter", () => {
  const exporter = (write: (text: string) => Promise<void>, warnings: string[] = []) => {
    let value = 0;
    return new EmfExporter({
      ...FRAME,
      read: async () => [counter("bridge_attempts_total", ++value, { route: "r" })],
      write,
      intervalMs: 1,
      clock: systemClock,
      logger: { ...silentLogger, warn: (message) => void warnings.push(message) },
    });
  };
  const sum = (text: string): number =>
    parse(text.split("\n").slice(0, -1)).reduce((total, { value }) => total + Number(value), 0);

  test("writes in each interval and at the end, and says what it could not write with the next", async () => {
    let text = "";
    let writes = 0;
    const warnings: string[] = [];
    const emf = exporter(async (more) => {
      if (++writes === 2) throw new Error("the pipe is broken");
      text += more;
    }, warnings);
    emf.start();
    await vi.waitFor(() => expect(writes).toBeGreaterThan(3), PATIENCE);
    await emf.stop(AbortSignal.timeout(10_000));
    expect(warnings).toEqual(["metrics not written"]);
    expect(sum(text)).toBe(writes);
  });

  test("spec 3.3: a flush that does not end is left at the signal", async () => {
    const emf = exporter(() => new Promise(() => {}));
    emf.start();
    await expect(emf.stop(AbortSignal.timeout(20))).rejects.toThrow(expect.objectContaining({ name: "TimeoutError" }));
  });
});
