import type { Logger } from "@bridge/ports";
import { tlsFailure, type TlsOptionNames } from "@bridge/ports/tls";
import type { Family } from "@bridge/telemetry";

/** Of a collector that is away no more is logged than this. */
const LOG_EVERY_MS = 60_000;
const MAX_CAUSES = 3;
const OPTIONS: TlsOptionNames = {
  ca: "telemetry.otlp.ca_file",
  pair: "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY",
};

/** What became of what was to be exported; told with the other metrics, so that it is seen without the collector too. */
export class ExportCounts {
  readonly #failures = { traces: 0, metrics: 0 };
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #place: (signal: "traces" | "metrics") => string;
  #logged = -Infinity;
  spansExported = 0;
  /** There was no room for them in the queue. */
  spansDropped = 0;
  /** The collector did not take them. */
  spansLost = 0;

  /** `now`: monotonic milliseconds. `place`: the collector of a signal, as it may be shown. */
  constructor(logger: Logger, now: () => number, place: (signal: "traces" | "metrics") => string) {
    this.#logger = logger;
    this.#now = now;
    this.#place = place;
  }

  failed(signal: "traces" | "metrics", error: Error | undefined): void {
    this.#failures[signal]++;
    if (this.#now() - this.#logged < LOG_EVERY_MS) return;
    this.#logged = this.#now();
    this.#logger.warn("not exported: the collector does not take it", {
      signal,
      collector: this.#place(signal),
      error: reasonOf(error),
    });
  }

  families(): readonly Family[] {
    return [
      {
        name: "bridge_otlp_export_failures_total",
        type: "counter",
        help: "Exports that the collector did not take, by signal.",
        samples: Object.entries(this.#failures).map(([signal, value]) => ({ labels: { signal }, value })),
      },
      {
        name: "bridge_otlp_spans_exported_total",
        type: "counter",
        help: "Spans that the collector has taken.",
        samples: [{ labels: {}, value: this.spansExported }],
      },
      {
        name: "bridge_otlp_spans_dropped_total",
        type: "counter",
        help: "Spans that no collector will see: the queue was full, or an export failed.",
        samples: [
          { labels: { reason: "queue_full" }, value: this.spansDropped },
          { labels: { reason: "export_failed" }, value: this.spansLost },
        ],
      },
    ];
  }
}

/** What the library says, of certificates what to do; a collector's own answer is no part of it. */
export function reasonOf(error: Error | undefined): string {
  const refused = refusalIn(error, MAX_CAUSES);
  if (refused !== undefined) return refused;
  const code =
    error !== undefined && "code" in error && typeof error.code === "number" ? ` (status ${error.code})` : "";
  return `${error?.message.slice(0, 200) ?? "no reason given"}${code}`;
}

function refusalIn(error: unknown, causes: number): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return tlsFailure(error, OPTIONS) ?? (causes === 0 ? undefined : refusalIn(error.cause, causes - 1));
}
