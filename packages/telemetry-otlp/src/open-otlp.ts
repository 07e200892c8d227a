import type { OtlpSection } from "@bridge/config";
import { type Clock, type Logger, type Tracer } from "@bridge/ports";
import { steadyLogger } from "@bridge/ports/internal";
import type { Family } from "@bridge/telemetry";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { Collector } from "./collector.ts";
import { ExportCounts } from "./export-counts.ts";
import { MetricsExport } from "./metrics/metrics-export.ts";
import { type Exporting, resourceOf } from "./resource.ts";
import { type Environment, settingsOf } from "./settings.ts";
import { TracesExport } from "./traces/traces-export.ts";

export interface OtlpOptions extends Exporting {
  readonly section: OtlpSection;
  /** Where what the section does not say may stand: `OTEL_*`. */
  readonly env: Environment;
  /** What there is to export; called once in each interval. */
  readonly readMetrics: () => Promise<readonly Family[]>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** One of the two exports: it is started, and flushed at the end. */
interface Export {
  readonly name: string;
  start(): void;
  stop(signal: AbortSignal): Promise<void>;
}

export interface OtlpExport {
  /** For the bridge; absent when nothing is traced. */
  readonly tracer: Tracer | undefined;
  /** Started with the bridge and stopped when it has ended: then each hands over what it still has. */
  readonly exports: readonly Export[];
  /** What became of it all, for the metrics of the process. */
  families(): readonly Family[];
}

/**
 * An export over OTLP; nothing is connected before there is something to hand over. A collector that is away or does not
 * answer costs what it was to be told, and nothing else.
 * @throws Error naming a field or a variable of the environment that cannot be used
 */
export function openOtlp(options: OtlpOptions): OtlpExport {
  const { section, env, readMetrics, clock, logger } = options;
  const { timeoutMs, metrics, traces } = settingsOf(section, env);
  const collector = new Collector(section, timeoutMs, env);
  const resource = resourceOf(options, section, env);
  const counts = new ExportCounts(
    steadyLogger(logger),
    () => clock.monotonic(),
    (signal) => collector.place(signal),
  );
  const tracing =
    traces &&
    new TracesExport({
      settings: traces,
      timeoutMs,
      exporter: new OTLPTraceExporter(collector.exporter("traces")),
      resource,
      counts,
    });
  const metering =
    metrics &&
    new MetricsExport({
      settings: metrics,
      exporter: new OTLPMetricExporter(collector.exporter("metrics")),
      resource,
      read: readMetrics,
      counts,
      clock,
    });
  const exports = [tracing, metering].filter((one) => one !== undefined);
  let open = exports.length;
  return {
    tracer: tracing?.tracer,
    exports: exports.map((one) => ({
      name: one.name,
      start: () => one.start(),
      stop: async (signal) => {
        try {
          await one.stop(signal);
        } finally {
          if (--open === 0) collector[Symbol.dispose]();
        }
      },
    })),
    families: () => counts.families(),
  };
}
