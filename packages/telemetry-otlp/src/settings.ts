import type { OtlpSection } from "@bridge/config";

/** What is exported and how, of the configuration, the environment and OpenTelemetry's defaults, in this order. */
export interface OtlpSettings {
  readonly timeoutMs: number;
  /** `undefined`: metrics are not exported. */
  readonly metrics: MetricSettings | undefined;
  /** `undefined`: nothing is traced. */
  readonly traces: TraceSettings | undefined;
}

export interface MetricSettings {
  readonly intervalMs: number;
  readonly temporality: "cumulative" | "delta";
}

export interface TraceSettings {
  readonly sampling: SamplingSettings;
  readonly maxQueue: number;
  readonly maxBatch: number;
  readonly delayMs: number;
}

export interface SamplingSettings {
  /** Of the traces that begin here; of all, unless it is parent-based. */
  readonly ratio: number;
  /** Whether a message that belongs to a trace is sampled when that is. */
  readonly parentBased: boolean;
}

export type Environment = Readonly<Record<string, string | undefined>>;

const SAMPLERS: Readonly<Record<string, (argument: number) => SamplingSettings>> = {
  always_on: () => ({ ratio: 1, parentBased: false }),
  always_off: () => ({ ratio: 0, parentBased: false }),
  traceidratio: (ratio) => ({ ratio, parentBased: false }),
  parentbased_always_on: () => ({ ratio: 1, parentBased: true }),
  parentbased_always_off: () => ({ ratio: 0, parentBased: true }),
  parentbased_traceidratio: (ratio) => ({ ratio, parentBased: true }),
};

/**
 * Reads what the `telemetry.otlp` block leaves to the environment.
 * @throws Error naming a variable that cannot be used, and what could stand there
 */
export function settingsOf(section: OtlpSection, env: Environment): OtlpSettings {
  const { metrics, traces } = section;
  const off = env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true";
  return {
    timeoutMs: section.timeoutMs ?? number(env, "OTEL_EXPORTER_OTLP_TIMEOUT", 1) ?? 10_000,
    metrics:
      off || !metrics.enabled || env["OTEL_METRICS_EXPORTER"] === "none"
        ? undefined
        : {
            intervalMs: metrics.intervalMs ?? number(env, "OTEL_METRIC_EXPORT_INTERVAL", 1) ?? 60_000,
            temporality: metrics.temporality ?? temporalityOf(env),
          },
    traces: off || !traces.enabled || env["OTEL_TRACES_EXPORTER"] === "none" ? undefined : traceSettings(traces, env),
  };
}

function traceSettings(traces: OtlpSection["traces"], env: Environment): TraceSettings {
  const maxQueue = traces.maxQueue ?? number(env, "OTEL_BSP_MAX_QUEUE_SIZE", 1) ?? 2_048;
  return {
    sampling: traces.sampleRatio === undefined ? samplingOf(env) : { ratio: traces.sampleRatio, parentBased: true },
    maxQueue,
    maxBatch: Math.min(maxQueue, number(env, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 1) ?? 512),
    delayMs: number(env, "OTEL_BSP_SCHEDULE_DELAY", 0) ?? 5_000,
  };
}

function samplingOf(env: Environment): SamplingSettings {
  const name = env["OTEL_TRACES_SAMPLER"] || "parentbased_always_on";
  const sampler = SAMPLERS[name];
  if (sampler === undefined) throw unusable("OTEL_TRACES_SAMPLER", name, `one of ${Object.keys(SAMPLERS).join(", ")}`);
  const ratio = number(env, "OTEL_TRACES_SAMPLER_ARG", 0) ?? 1;
  if (ratio > 1) throw unusable("OTEL_TRACES_SAMPLER_ARG", String(ratio), "a number from 0 to 1");
  return sampler(ratio);
}

/** With `lowmemory` what is counted in the process is told as `delta`, which is all that there is here. */
function temporalityOf(env: Environment): MetricSettings["temporality"] {
  const name = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
  const written = env[name]?.toLowerCase() || "cumulative";
  if (written === "cumulative") return "cumulative";
  if (written === "delta" || written === "lowmemory") return "delta";
  throw unusable(name, written, "cumulative, delta or lowmemory");
}

/** A number of at least `min`; an empty variable is an absent one. */
function number(env: Environment, name: string, min: number): number | undefined {
  const written = env[name]?.trim() ?? "";
  if (written === "") return undefined;
  const value = Number(written);
  if (!(value >= min && Number.isFinite(value))) throw unusable(name, written, `a number, at least ${min}`);
  return value;
}

function unusable(name: string, value: string, expected: string): Error {
  return new Error(`${name} is "${value.slice(0, 64)}"; expected ${expected}`);
}
