import { type Tracer } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import type { Resource } from "@opentelemetry/resources";
import { AlwaysOnSampler, BatchSpanProcessor, type SpanExporter, TracerProvider } from "@opentelemetry/sdk-trace";
import { type ExportCounts, reasonOf } from "../export-counts.ts";
import { SCOPE } from "../scope.ts";
import type { TraceSettings } from "../settings.ts";
import { BoundedQueue } from "./bounded-queue.ts";
import { OtlpTracer } from "./otlp-tracer.ts";
import { RandomIds } from "./random-ids.ts";
import { Sampling } from "./sampling.ts";

/** What one attribute may hold; subjects and error messages can be longer. */
const MAX_VALUE = 1_024;
/** The SDK waits for an export a little longer than the exporter does, whose reason tells more. */
const MARGIN_MS = 1_000;

export interface TracesExportOptions {
  readonly settings: TraceSettings;
  readonly timeoutMs: number;
  readonly exporter: SpanExporter;
  readonly resource: Resource;
  readonly counts: ExportCounts;
}

/** A tracer whose spans are exported in batches, from a bounded queue. */
export class TracesExport {
  readonly name = "OTLP traces flush";
  readonly tracer: Tracer;
  readonly #provider: TracerProvider;
  readonly #counts: ExportCounts;

  constructor({ settings, timeoutMs, exporter, resource, counts }: TracesExportOptions) {
    const { maxQueue, maxBatch, delayMs, sampling } = settings;
    const queue = new BoundedQueue(maxQueue, counts);
    const batches = new BatchSpanProcessor({
      exporter: queue.counted(exporter),
      maxQueueSize: maxQueue,
      maxExportBatchSize: maxBatch,
      scheduledDelayMillis: delayMs,
      exportTimeoutMillis: timeoutMs + MARGIN_MS,
    });
    const ids = new RandomIds();
    this.#counts = counts;
    this.#provider = new TracerProvider({
      resource,
      sampler: new AlwaysOnSampler(),
      idGenerator: ids,
      spanLimits: { attributeValueLengthLimit: MAX_VALUE },
      spanProcessors: [queue.bounded(batches)],
    });
    this.tracer = new OtlpTracer(this.#provider.getTracer(SCOPE.name), new Sampling(sampling, ids));
  }

  start(): void {}

  /** Hands over what waits. Rejects when that cannot be done, or with the signal's reason. */
  async stop(signal: AbortSignal): Promise<void> {
    const before = this.#counts.spansLost;
    const flushed = this.#provider.shutdown().catch((error: unknown) => {
      throw new Error(reasonOf(error instanceof Error ? error : new Error(String(error))), { cause: error });
    });
    await orAborted(flushed, signal);
    const lost = this.#counts.spansLost - before;
    if (lost > 0) throw new Error(`the collector did not take the last ${lost} spans`);
  }
}
