import { describe, integer, pemFile, positiveDuration, secret, text } from "@bridge/ports/options";
import * as v from "valibot";

const RATIO = "expected a number from 0 to 1";
const NO_QUERY =
  "has a query or a fragment, and the path of each signal comes at its end: remove it; a key belongs into `headers`";

function endpoint() {
  return v.pipe(
    v.string("expected a string"),
    v.metadata({ pattern: "^\\s*[Hh][Tt][Tt][Pp][Ss]?:[^?#]+$" }),
    v.check(isCollector, 'not the URL of a collector: write "http://127.0.0.1:4318" or "https://otel.example.com"'),
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed || !/[?#]/.test(dataset.value)) return;
      // Without the value: there may be a key in it.
      addIssue({ message: NO_QUERY, input: undefined });
    }),
  );
}

/** A user in the URL would be a secret that URLs are not treated as. */
function isCollector(written: string): boolean {
  const url = URL.parse(written);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const MAX_ENTRIES = 64;

const entries = <const Value extends v.GenericSchema<string>>(value: Value, name: RegExp, expected: string) =>
  v.optional(
    v.pipe(
      v.record(v.pipe(v.string(), v.regex(name, expected)), value),
      v.maxEntries(MAX_ENTRIES, `at most ${MAX_ENTRIES} entries`),
    ),
    {},
  );

const metricsSchema = v.strictObject({
  enabled: describe(v.optional(v.boolean(), true), "Whether metrics are exported."),
  interval: describe(
    v.optional(positiveDuration()),
    "How often metrics are exported. Default: OTEL_METRIC_EXPORT_INTERVAL, else 60s.",
  ),
  temporality: describe(
    v.optional(v.picklist(["cumulative", "delta"])),
    "Whether counters and histograms count from the start of the process or from the last export. Default: OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE, else `cumulative`.",
  ),
});

const tracesSchema = v.strictObject({
  enabled: describe(v.optional(v.boolean(), true), "Whether deliveries are traced."),
  sample_ratio: describe(
    v.optional(v.pipe(v.number(RATIO), v.minValue(0, RATIO), v.maxValue(1, RATIO))),
    "The share, 0 to 1, of the messages without a trace context that begin a trace. Messages with one are traced if their source sampled them. Default: OTEL_TRACES_SAMPLER, else 1.",
  ),
  max_queue: describe(
    v.optional(integer(1, 1_000_000)),
    "The most spans that wait for the collector. Further spans are dropped and counted. Default: OTEL_BSP_MAX_QUEUE_SIZE, else 2048.",
  ),
});

/**
 * The `telemetry` block: what is exported besides the metrics of the monitor server. It is read at the start of the
 * process.
 */
export const telemetrySchema = v.strictObject({
  otlp: describe(
    v.optional(
      v.strictObject({
        endpoint: describe(
          v.optional(endpoint()),
          "The collector, without `/v1/traces` and `/v1/metrics`. Default: OTEL_EXPORTER_OTLP_ENDPOINT, else http://localhost:4318.",
        ),
        headers: describe(
          entries(secret(), HEADER_NAME, "not a header name"),
          "Headers of each request, such as an API key, besides those of OTEL_EXPORTER_OTLP_HEADERS.",
        ),
        timeout: describe(
          v.optional(positiveDuration()),
          "How long an export may take, with its retries. Default: OTEL_EXPORTER_OTLP_TIMEOUT, else 10s.",
        ),
        compression: describe(
          v.optional(v.picklist(["gzip", "none"])),
          "How exports are compressed. Default: OTEL_EXPORTER_OTLP_COMPRESSION, else `none`.",
        ),
        ca_file: describe(
          v.optional(pemFile("authorities")),
          "Certificates that the collector is checked against, a PEM file. Default: OTEL_EXPORTER_OTLP_CERTIFICATE, else those of the platform.",
        ),
        service_name: describe(v.optional(text()), "`service.name`. Default: OTEL_SERVICE_NAME, else the bridge's id."),
        resource_attributes: describe(
          entries(v.string("expected a string"), /^[!-~]{1,256}$/, "not the name of an attribute"),
          "Further attributes of this process, such as `deployment.environment.name`. They win over OTEL_RESOURCE_ATTRIBUTES.",
        ),
        metrics: describe(v.optional(metricsSchema, {}), "Metrics."),
        traces: describe(v.optional(tracesSchema, {}), "Traces."),
      }),
    ),
    "Metrics and traces for a collector of OpenTelemetry, over OTLP (http/protobuf). Without this block there are none.",
  ),
});
