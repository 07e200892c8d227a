/** A collector of OpenTelemetry for tests: takes OTLP over http/protobuf and keeps what it was told. @module */
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { parse } from "protobufjs";

/** The fields of OTLP 1.x that are looked at, by their numbers. */
const { root: PROTO } = parse(`
  syntax = "proto3";
  message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message Scope { string name = 1; string version = 2; }
  message Traces { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
  message Link { bytes trace_id = 1; bytes span_id = 2; }
  message Status { string message = 2; int32 code = 3; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5; int32 kind = 6; fixed32 flags = 16;
    fixed64 start = 7; fixed64 end = 8; repeated KeyValue attributes = 9; repeated Link links = 13; Status status = 15;
  }
  message Metrics { repeated ResourceMetrics resource_metrics = 1; }
  message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; }
  message ScopeMetrics { Scope scope = 1; repeated Metric metrics = 2; }
  message Metric { string name = 1; string description = 2; string unit = 3; oneof data { Gauge gauge = 5; Sum sum = 7; Histogram histogram = 9; } }
  message Gauge { repeated Point points = 1; }
  message Sum { repeated Point points = 1; int32 temporality = 2; bool monotonic = 3; }
  message Point { fixed64 start = 2; fixed64 time = 3; oneof value { double as_double = 4; sfixed64 as_int = 6; } repeated KeyValue attributes = 7; }
  message Histogram { repeated HistogramPoint points = 1; int32 temporality = 2; }
  message HistogramPoint {
    fixed64 start = 2; fixed64 time = 3; fixed64 count = 4; optional double sum = 5; repeated fixed64 counts = 6;
    repeated double bounds = 7; repeated KeyValue attributes = 9;
  }
`);

export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: it has none. */
  readonly parentSpanId: string;
  /** The lowest byte is that of W3C; 0x100: it is known whether the parent is remote, 0x200: it is. */
  readonly flags: number;
  readonly traceState: string;
  readonly name: string;
  /** 4: producer, 5: consumer. */
  readonly kind: number;
  readonly attributes: Attributes;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** Code 2: an error. */
  readonly status: { readonly code: number; readonly message: string };
  /** Nanoseconds since 1970. */
  readonly start: bigint;
  readonly end: bigint;
  readonly resource: Attributes;
}

export interface CollectedPoint {
  readonly attributes: Attributes;
  readonly start: bigint;
  readonly time: bigint;
  /** Of numbers. */
  readonly value: number;
  /** Of histograms; empty for numbers. */
  readonly counts: readonly number[];
  readonly bounds: readonly number[];
  readonly count: number;
  readonly sum: number;
}

export interface CollectedMetric {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly kind: "gauge" | "sum" | "histogram";
  readonly temporality: "none" | "delta" | "cumulative";
  readonly monotonic: boolean;
  readonly points: readonly CollectedPoint[];
  readonly resource: Attributes;
}

/** What it does with a request: take it, refuse it with a status, or never answer. */
export type CollectorMood = "takes" | "hangs" | number;

const TEMPORALITIES = ["none", "delta", "cumulative"] as const;
const WAIT_MS = 10;
const MAX_WAIT_MS = 20_000;

export class OtlpCollector implements AsyncDisposable {
  readonly spans: CollectedSpan[] = [];
  /** One element for each export. */
  readonly exports: (readonly CollectedMetric[])[] = [];
  readonly requests: { readonly url: string; readonly headers: IncomingHttpHeaders }[] = [];
  mood: CollectorMood = "takes";
  readonly #server = createServer((request, response) => {
    void body(request).then((bytes) => {
      this.requests.push({ url: request.url ?? "", headers: request.headers });
      if (this.mood === "hangs") return;
      if (this.mood === "takes") this.#take(request.url ?? "", bytes);
      response.writeHead(this.mood === "takes" ? 200 : this.mood, { "content-type": "application/x-protobuf" }).end();
    });
  });

  /** On a free port of 127.0.0.1, unless `port` names one. */
  static async open(port = 0): Promise<OtlpCollector> {
    const collector = new OtlpCollector();
    await new Promise<void>((resolve) => collector.#server.listen(port, "127.0.0.1", resolve));
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The metric of the newest export that has one of this name. */
  metric(name: string): CollectedMetric | undefined {
    return this.exports
      .toReversed()
      .flatMap((metrics) => metrics.filter((metric) => metric.name === name))
      .at(0);
  }

  /** Resolves when `holds` does. @throws Error when it does not within 20 s */
  async until(holds: (collector: this) => boolean): Promise<void> {
    for (let waited = 0; !holds(this); waited += WAIT_MS) {
      if (waited > MAX_WAIT_MS)
        throw new Error(
          `the collector was told ${this.spans.length} spans and ${this.exports.length} exports, and not what was waited for`,
        );
      await delay(WAIT_MS);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take(url: string, bytes: Uint8Array): void {
    if (url.endsWith("/v1/traces")) this.spans.push(...spansOf(bytes));
    else if (url.endsWith("/v1/metrics")) this.exports.push(metricsOf(bytes));
  }
}

interface WireValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string;
  readonly doubleValue?: number;
}

interface WirePair {
  readonly key: string;
  readonly value?: WireValue;
}

interface WireResource {
  readonly attributes: readonly WirePair[];
}

interface WireLink {
  readonly traceId: Uint8Array;
  readonly spanId: Uint8Array;
}

interface WireSpan extends WireLink {
  readonly parentSpanId: Uint8Array;
  readonly flags: number;
  readonly traceState: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly WirePair[];
  readonly links: readonly WireLink[];
  readonly status?: { readonly code: number; readonly message: string } | null;
  readonly start: string;
  readonly end: string;
}

interface WireTraces {
  readonly resourceSpans: readonly {
    readonly resource: WireResource;
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

interface WirePoint {
  readonly attributes: readonly WirePair[];
  readonly start: string;
  readonly time: string;
  readonly asDouble?: number;
  readonly asInt?: string;
  readonly counts?: readonly string[];
  readonly bounds?: readonly number[];
  readonly count?: string;
  readonly sum?: number;
}

interface WireData {
  readonly points: readonly WirePoint[];
  readonly temporality?: number;
  readonly monotonic?: boolean;
}

interface WireMetric {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly gauge?: WireData;
  readonly sum?: WireData;
  readonly histogram?: WireData;
}

interface WireMetrics {
  readonly resourceMetrics: readonly {
    readonly resource: WireResource;
    readonly scopeMetrics: readonly { readonly metrics: readonly WireMetric[] }[];
  }[];
}

function decoded(type: "Traces" | "Metrics", bytes: Uint8Array): unknown {
  const message = PROTO.lookupType(type);
  return message.toObject(message.decode(bytes), { longs: String, arrays: true, defaults: true });
}

function spansOf(bytes: Uint8Array): readonly CollectedSpan[] {
  const { resourceSpans } = decoded("Traces", bytes) as WireTraces;
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map((span) => spanOf(span, attributesOf(resource.attributes)))),
  );
}

function spanOf(span: WireSpan, resource: Attributes): CollectedSpan {
  return {
    traceId: hex(span.traceId),
    spanId: hex(span.spanId),
    parentSpanId: hex(span.parentSpanId),
    flags: span.flags,
    traceState: span.traceState,
    name: span.name,
    kind: span.kind,
    attributes: attributesOf(span.attributes),
    links: span.links.map((link) => ({ traceId: hex(link.traceId), spanId: hex(link.spanId) })),
    status: { code: span.status?.code ?? 0, message: span.status?.message ?? "" },
    start: BigInt(span.start),
    end: BigInt(span.end),
    resource,
  };
}

function metricsOf(bytes: Uint8Array): readonly CollectedMetric[] {
  const { resourceMetrics } = decoded("Metrics", bytes) as WireMetrics;
  return resourceMetrics.flatMap(({ resource, scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics }) => metrics.map((metric) => metricOf(metric, attributesOf(resource.attributes)))),
  );
}

function metricOf(metric: WireMetric, resource: Attributes): CollectedMetric {
  const { name, unit, description } = metric;
  const kind = (["gauge", "sum", "histogram"] as const).find((one) => metric[one] !== undefined) ?? "gauge";
  const { points = [], temporality = 0, monotonic = false } = metric[kind] ?? {};
  const told = TEMPORALITIES[temporality] ?? "none";
  return { name, unit, description, kind, temporality: told, monotonic, points: points.map(pointOf), resource };
}

function pointOf(point: WirePoint): CollectedPoint {
  return {
    attributes: attributesOf(point.attributes),
    start: BigInt(point.start),
    time: BigInt(point.time),
    value: Number(point.asInt ?? point.asDouble ?? 0),
    counts: (point.counts ?? []).map(Number),
    bounds: point.bounds ?? [],
    count: Number(point.count ?? 0),
    sum: point.sum ?? 0,
  };
}

function attributesOf(pairs: readonly WirePair[]): Attributes {
  return Object.fromEntries(
    pairs.map(({ key, value = {} }) => {
      const { stringValue, boolValue, intValue, doubleValue } = value;
      return [key, stringValue ?? boolValue ?? doubleValue ?? Number(intValue)];
    }),
  );
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

async function body(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request as AsyncIterable<Uint8Array>) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  return request.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes;
}
