import { silentLogger } from "@bridge/ports";
import { afterEach, describe, expect, test, vi } from "vitest";
import { ExportCounts, reasonOf } from "../src/export-counts.ts";
import { resourceOf } from "../src/resource.ts";
import { settingsOf } from "../src/settings.ts";
import { SECTION } from "./support/traced-bridge.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("settings", () => {
  test("are OpenTelemetry's defaults when nobody says anything", () => {
    expect(settingsOf({ ...SECTION, timeoutMs: undefined }, {})).toEqual({
      timeoutMs: 10_000,
      metrics: { intervalMs: 60_000, temporality: "cumulative" },
      traces: { sampling: { ratio: 1, parentBased: true }, maxQueue: 2_048, maxBatch: 512, delayMs: 5_000 },
    });
  });

  test("come from the environment where the document is silent, and only there", () => {
    const env = {
      OTEL_EXPORTER_OTLP_TIMEOUT: "2500",
      OTEL_METRIC_EXPORT_INTERVAL: "15000",
      OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: "Delta",
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.25",
      OTEL_BSP_MAX_QUEUE_SIZE: "100",
      OTEL_BSP_SCHEDULE_DELAY: "0",
    };
    expect(settingsOf({ ...SECTION, timeoutMs: undefined }, env)).toEqual({
      timeoutMs: 2_500,
      metrics: { intervalMs: 15_000, temporality: "delta" },
      traces: { sampling: { ratio: 0.25, parentBased: true }, maxQueue: 100, maxBatch: 100, delayMs: 0 },
    });
    const written = {
      ...SECTION,
      metrics: { enabled: true, intervalMs: 1_000, temporality: "cumulative" as const },
      traces: { enabled: true, sampleRatio: 0.5, maxQueue: 7 },
    };
    expect(settingsOf(written, env)).toMatchObject({
      timeoutMs: 5_000,
      metrics: { intervalMs: 1_000, temporality: "cumulative" },
      traces: { sampling: { ratio: 0.5 }, maxQueue: 7, maxBatch: 7 },
    });
  });

  test.each([
    [{ OTEL_SDK_DISABLED: "true" }, false, false],
    [{ OTEL_TRACES_EXPORTER: "none" }, true, false],
    [{ OTEL_METRICS_EXPORTER: "none" }, false, true],
  ])("%o switches off", (env, metrics, traces) => {
    const settings = settingsOf(SECTION, env);
    expect([settings.metrics !== undefined, settings.traces !== undefined]).toEqual([metrics, traces]);
  });

  test.each([
    [{ OTEL_TRACES_SAMPLER: "jaeger_remote" }, /OTEL_TRACES_SAMPLER is "jaeger_remote"; expected one of always_on/],
    [{ OTEL_TRACES_SAMPLER_ARG: "2" }, /OTEL_TRACES_SAMPLER_ARG is "2"; expected a number from 0 to 1/],
    [{ OTEL_METRIC_EXPORT_INTERVAL: "soon" }, /OTEL_METRIC_EXPORT_INTERVAL is "soon"; expected a number, at least 1/],
    [{ OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: "x" }, /expected cumulative, delta or lowmemory/],
  ])("%o is refused", (env, message) => {
    expect(() => settingsOf(SECTION, env)).toThrow(message);
  });
});

describe("the resource", () => {
  const who = { bridgeId: "plant", instanceId: "plant-a", version: "1.0.0" };

  test("names service and instance; what the document says wins over the environment", () => {
    vi.stubEnv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test,team=a");
    const env = { OTEL_SERVICE_NAME: "from-env" };
    expect(resourceOf(who, SECTION, {}).attributes).toMatchObject({
      "service.name": "plant",
      "service.instance.id": "plant-a",
      "service.version": "1.0.0",
      "telemetry.sdk.name": "opentelemetry",
      team: "a",
    });
    expect(resourceOf(who, SECTION, env).attributes["service.name"]).toBe("from-env");
    const section = { ...SECTION, serviceName: "written", resourceAttributes: { team: "b" } };
    expect(resourceOf(who, section, env).attributes).toMatchObject({
      "service.name": "written",
      team: "b",
      "deployment.environment.name": "test",
    });
  });
});

test("a collector that is away is logged once a minute, and a failure's reason is no answer of the collector's", () => {
  const lines: string[] = [];
  let now = 0;
  const counts = new ExportCounts(
    { ...silentLogger, warn: (message) => void lines.push(message) },
    () => now,
    () => "",
  );
  for (now = 0; now < 120_000; now += 1_000) counts.failed("traces", new Error("refused"));
  expect(lines).toHaveLength(2);
  expect(counts.families()[0]?.samples).toMatchObject([{ value: 120 }, { value: 0 }]);
  const error = Object.assign(new Error("x".repeat(1_000)), { code: 503, data: "a secret" });
  expect(reasonOf(error)).toBe(`${"x".repeat(200)} (status 503)`);
});
