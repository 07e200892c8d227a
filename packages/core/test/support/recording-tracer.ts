import {
  type BindingTracer,
  type BridgeError,
  type DeliveryStart,
  readTraceContext,
  type RouteTracer,
  type SendStart,
  type Span,
  type TraceContext,
  type TracedBinding,
  type TracedRoute,
  type Tracer,
} from "@bridge/ports";

/** A span as the tracer saw it. */
export interface RecordedSpan {
  readonly kind: "deliver" | "send";
  readonly of: TracedRoute | TracedBinding;
  readonly context: TraceContext;
  readonly parent: TraceContext | undefined;
  readonly start: DeliveryStart | SendStart;
  /** What the message came with. */
  readonly came: TraceContext | undefined;
  readonly ends: { readonly outcome: string; readonly error: BridgeError | undefined }[];
}

/** Keeps every span; a delivery without a parent begins a trace. */
export class RecordingTracer implements Tracer {
  readonly spans: RecordedSpan[] = [];
  /** Whether deliveries are seen; those that are not keep the context that they came with. */
  sampled = true;

  route(route: TracedRoute): RouteTracer {
    return {
      deliver: (start) => {
        const parent = start.origin === "redriven" ? undefined : readTraceContext(start.envelope.headers);
        if (!this.sampled)
          return { context: parent ?? this.#context(undefined), carried: false, recorded: false, end: () => {} };
        return this.#span("deliver", route, start, parent);
      },
      binding: (binding): BindingTracer => ({
        send: (start) => (this.sampled ? this.#span("send", binding, start, start.parent) : undefined),
      }),
    };
  }

  of(kind: RecordedSpan["kind"]): readonly RecordedSpan[] {
    return this.spans.filter((span) => span.kind === kind);
  }

  #span(
    kind: RecordedSpan["kind"],
    of: RecordedSpan["of"],
    start: RecordedSpan["start"],
    parent: TraceContext | undefined,
  ): Span {
    const context = this.#context(parent);
    const ends: RecordedSpan["ends"] = [];
    const came = readTraceContext(start.envelope.headers);
    this.spans.push({ kind, of, context, parent, start, came, ends });
    return { context, carried: true, recorded: true, end: (outcome, error) => void ends.push({ outcome, error }) };
  }

  #context(parent: TraceContext | undefined): TraceContext {
    const number = this.spans.length + 1;
    const digits = (length: number) => number.toString(16).padStart(length, "0");
    return { traceId: parent?.traceId ?? digits(32), spanId: digits(16), flags: 1, state: parent?.state ?? "" };
  }
}
