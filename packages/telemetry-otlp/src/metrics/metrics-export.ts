import { type Clock, Slices } from "@bridge/ports";
import { type Family, PeriodicTelling } from "@bridge/telemetry";
import type { HrTime } from "@opentelemetry/api";
import { ExportResultCode, millisToHrTime } from "@opentelemetry/core";
import type { Resource } from "@opentelemetry/resources";
import { AggregationTemporality, type PushMetricExporter, type ResourceMetrics } from "@opentelemetry/sdk-metrics";
import { type ExportCounts, reasonOf } from "../export-counts.ts";
import { SCOPE } from "../scope.ts";
import type { MetricSettings } from "../settings.ts";
import { Deltas } from "./deltas.ts";
import { metricData } from "./metric-data.ts";

export interface MetricsExportOptions {
  readonly settings: MetricSettings;
  readonly exporter: Pick<PushMetricExporter, "export">;
  readonly resource: Resource;
  readonly read: () => Promise<readonly Family[]>;
  readonly counts: ExportCounts;
  readonly clock: Clock;
}

/**
 * Exports what a process counts: the families that the monitor server shows, read when they are exported. What one
 * export could not hand over the next one does.
 */
export class MetricsExport {
  readonly name = "OTLP metrics flush";
  readonly #options: MetricsExportOptions;
  readonly #telling: PeriodicTelling;
  readonly #deltas = new Deltas();
  readonly #started: HrTime;
  #told: HrTime;

  constructor(options: MetricsExportOptions) {
    const { clock, settings, counts } = options;
    this.#options = options;
    this.#telling = new PeriodicTelling({
      clock,
      intervalMs: settings.intervalMs,
      tell: (which) => this.#tell(which),
      failed: (error) => counts.failed("metrics", error),
    });
    this.#started = millisToHrTime(clock.now());
    this.#told = this.#started;
  }

  start(): void {
    this.#telling.start();
  }

  /** Rejects when what has been counted cannot be handed over, or with the signal's reason. */
  stop(signal: AbortSignal): Promise<void> {
    return this.#telling.stop(signal);
  }

  async #tell(which: (family: Family) => boolean): Promise<void> {
    const { read, clock, settings, resource } = this.#options;
    const delta = settings.temporality === "delta";
    const slices = new Slices(clock);
    const families = await inSlices((await read()).filter(which), slices);
    const end = millisToHrTime(clock.now());
    const span = { start: delta ? this.#told : this.#started, end };
    const temporality = delta ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE;
    const told = delta ? this.#deltas.next(families) : families;
    const data = await slices.map(told, (family) => metricData(family, temporality, span));
    const metrics = data.filter((one) => one !== undefined);
    await this.#export({ resource, scopeMetrics: [{ scope: SCOPE, metrics }] });
    this.#deltas.told();
    this.#told = end;
  }

  #export(metrics: ResourceMetrics): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#options.exporter.export(metrics, ({ code, error }) => {
        if (code === ExportResultCode.SUCCESS) resolve();
        else reject(new Error(reasonOf(error), { cause: error }));
      });
    });
  }
}

/** The same families with their samples read, a slice at a time: there are some for each route. */
async function inSlices(families: readonly Family[], slices: Slices): Promise<readonly Family[]> {
  const read: Family[] = [];
  for (const family of families)
    read.push(
      family.type === "histogram"
        ? { ...family, samples: await slices.map(family.samples, (sample) => sample) }
        : { ...family, samples: await slices.map(family.samples, (sample) => sample) },
    );
  return read;
}
