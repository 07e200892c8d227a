import { ExportResultCode } from "@opentelemetry/core";
import type { ReadableSpan, SpanExporter, SpanProcessor } from "@opentelemetry/sdk-trace";
import { type ExportCounts } from "../export-counts.ts";

/**
 * Keeps count of the spans that wait for the collector, and drops what is beyond the bound. Stands before the SDK's own
 * queue, which drops too but does not tell how much, and behind it, where spans are handed over.
 */
export class BoundedQueue {
  readonly #max: number;
  readonly #counts: ExportCounts;
  #waiting = 0;

  constructor(max: number, counts: ExportCounts) {
    this.#max = max;
    this.#counts = counts;
  }

  /** Where spans leave the queue. */
  counted(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans, done) => {
        this.#waiting -= spans.length;
        exporter.export(spans, (result) => {
          if (result.code === ExportResultCode.SUCCESS) {
            this.#counts.spansExported += spans.length;
          } else {
            this.#counts.spansLost += spans.length;
            this.#counts.failed("traces", result.error);
          }
          done(result);
        });
      },
      forceFlush: async () => exporter.forceFlush?.(),
      shutdown: () => exporter.shutdown(),
    };
  }

  /** Where spans enter it. */
  bounded(processor: SpanProcessor): SpanProcessor {
    return {
      onStart: (span, parent) => processor.onStart(span, parent),
      onEnd: (span: ReadableSpan) => {
        if (this.#waiting >= this.#max) {
          this.#counts.spansDropped++;
          return;
        }
        this.#waiting++;
        processor.onEnd(span);
      },
      forceFlush: () => processor.forceFlush(),
      shutdown: () => processor.shutdown(),
    };
  }
}
