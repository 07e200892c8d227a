import { type Clock } from "@bridge/ports";
import { Slices } from "@bridge/ports/internal";
import { type Family, PeriodicTelling } from "@bridge/telemetry";
import type { HrTime } from "@opentelemetry/api";
import { ExportResultCode, millisToHrTime } from "@opentelemetry/core";
import type { Resource } from "@opentelemetry/resources";
import { AggregationTemporality, type PushMetricExporter, type ResourceMetrics } from "@opentelemetry/sdk-metrics";
import { type ExportCounts, reasonOf } from "../export-counts.ts";
import { SCOPE } from "../scope.ts";
import type { MetricSettings } from "../settings.ts";
import { Deltas } from "./deltas.ts";
import { metricData, type Span } from "./metric-data.ts";
import { portions } from "./portions.ts";
import { severalAtOnce } from "./several-at-once.ts";

/** A request is put into bytes in one piece: so many take some milliseconds. */
const PORTION = 1_000;
/** A collector that is far away would else take long to be told of thousands of routes, when a process ends above all. */
const AT_ONCE = 4;

export interface MetricsExportOptions {
  readonly settings: MetricSettings;
  readonly exporter: Pick<PushMetricExporter, "export">;
  readonly resource: Resource;
  readonly read: () => Promise<readonly Family[]>;
  readonly counts: ExportCounts;
  readonly clock: Clock;
  /** Samples of one request at most. Default 1,000. */
  readonly portion?: number;
}

/**
 * Exports what a process counts: the families that the monitor server shows, read when they are exported, in requests of
 * so many samples. What one export could not hand over the next one does.
 */
export class MetricsExport {
  readonly name = "OTLP metrics flush";
  readonly #options: MetricsExportOptions;
  readonly #telling: PeriodicTelling;
  readonly #deltas: Deltas;
  readonly #started: HrTime;

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
    this.#deltas = new Deltas(this.#started);
  }

  start(): void {
    this.#telling.start();
  }

  /** Rejects when what has been counted cannot be handed over, or with the signal's reason. */
  stop(signal: AbortSignal): Promise<void> {
    return this.#telling.stop(signal);
  }

  async #tell(which: (family: Family) => boolean): Promise<void> {
    const { read, clock, settings, portion = PORTION } = this.#options;
    const slices = new Slices(clock);
    const families = await inSlices((await read()).filter(which), slices);
    const end = millisToHrTime(clock.now());
    this.#deltas.begin();
    await severalAtOnce(portions(families, portion), AT_ONCE, async (some) => {
      if (slices.over) await slices.next();
      if (settings.temporality === "delta") {
        const { families: grown, since, told } = this.#deltas.next(some);
        await this.#hand(grown, AggregationTemporality.DELTA, { start: since, end });
        told(end);
      } else {
        await this.#hand(some, AggregationTemporality.CUMULATIVE, { start: () => this.#started, end });
      }
    });
    this.#deltas.complete(end);
  }

  #hand(families: readonly Family[], temporality: AggregationTemporality, span: Span): Promise<void> {
    const metrics = families.flatMap((family) => metricData(family, temporality, span) ?? []);
    return this.#export({ resource: this.#options.resource, scopeMetrics: [{ scope: SCOPE, metrics }] });
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
