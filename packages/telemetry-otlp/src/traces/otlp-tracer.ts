import {
  type BindingTracer,
  type DeliveryStart,
  parseTraceFlags,
  readTraceContext,
  type RouteTracer,
  type SendStart,
  type Span,
  TRACE_FLAGS,
  TRACE_HEADERS,
  type TraceContext,
  type TracedBinding,
  type TracedRoute,
  type Tracer,
} from "@bridge/ports";
import {
  type Attributes,
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  trace,
  type Tracer as SdkTracer,
} from "@opentelemetry/api";
import { bindingAttributes, deliveryAttributes, routeAttributes, sendAttributes } from "./attributes.ts";
import { isSampled, type Sampling } from "./sampling.ts";
import { PassedSpan, RecordedSpan, UnrecordedSpan } from "./spans.ts";

interface Start {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes;
  readonly links?: readonly TraceContext[];
}

/** Makes spans with the SDK, of what is sampled; the SDK never sees the rest. */
export class OtlpTracer implements Tracer {
  readonly #tracer: SdkTracer;
  readonly #sampling: Sampling;

  /** `tracer` records all that it is asked for, and takes its ids from where `sampling` does. */
  constructor(tracer: SdkTracer, sampling: Sampling) {
    this.#tracer = tracer;
    this.#sampling = sampling;
  }

  route(route: TracedRoute): RouteTracer {
    const name = `process ${route.routeId}`;
    const attributes = routeAttributes(route);
    return {
      deliver: (start) => this.#deliver(name, attributes, start),
      binding: (binding) => this.#binding(route, binding),
    };
  }

  #binding(route: TracedRoute, binding: TracedBinding): BindingTracer {
    const name = `send ${binding.bindingId}`;
    const attributes = bindingAttributes(route, binding);
    return { send: (start) => this.#send(name, attributes, start) };
  }

  #deliver(name: string, attributes: Attributes, start: DeliveryStart): Span {
    const { headers } = start.envelope;
    if (start.origin === "redriven") return this.#redeliver(name, attributes, start);
    const written = headers[TRACE_HEADERS.parent];
    const flags = written === undefined ? undefined : parseTraceFlags(written);
    // Nothing is made of what its source does not want to be seen: it would be most of what comes.
    if (flags !== undefined && this.#sampling.passes(flags)) return new PassedSpan(headers);
    const came = flags === undefined ? undefined : readTraceContext(headers);
    if (!this.#sampling.samples(came)) return this.#unrecorded(came);
    const all = { ...attributes, ...deliveryAttributes(start) };
    return this.#begin({ name, kind: SpanKind.CONSUMER, attributes: all }, came, true);
  }

  /** What was seen once is seen again, in a trace of its own that names the former one. */
  #redeliver(name: string, attributes: Attributes, start: DeliveryStart): Span {
    const original = readTraceContext(start.envelope.headers);
    const links = original !== undefined && isSampled(original) ? [original] : [];
    if (links.length === 0 && !this.#sampling.samples(undefined)) return this.#unrecorded(undefined);
    const all = { ...attributes, ...deliveryAttributes(start) };
    return this.#begin({ name, kind: SpanKind.CONSUMER, attributes: all, links });
  }

  #send(name: string, attributes: Attributes, start: SendStart): Span | undefined {
    const { parent } = start;
    // Below a span its own decision holds.
    if (parent === undefined ? !this.#sampling.samples(undefined) : !isSampled(parent)) return undefined;
    return this.#begin(
      { name, kind: SpanKind.PRODUCER, attributes: { ...attributes, ...sendAttributes(start) } },
      parent,
      false,
    );
  }

  #unrecorded(came: TraceContext | undefined): Span {
    return new UnrecordedSpan(this.#sampling.unsampled(came));
  }

  /** `isRemote`: the parent came with the message. */
  #begin({ name, kind, attributes, links = [] }: Start, parent?: TraceContext, isRemote = false): Span {
    const options = { kind, attributes, links: links.map((context) => ({ context: spanContext(context, true) })) };
    const span = this.#tracer.startSpan(name, options, below(parent, isRemote));
    const { traceId, spanId } = span.spanContext();
    const random = (parent?.flags ?? 0) & TRACE_FLAGS.random;
    const flags = TRACE_FLAGS.sampled | random;
    return new RecordedSpan(span, { traceId, spanId, flags, state: parent?.state ?? "" });
  }
}

function below(parent: TraceContext | undefined, isRemote: boolean): Context {
  return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, spanContext(parent, isRemote));
}

function spanContext({ traceId, spanId, flags, state }: TraceContext, isRemote: boolean): SpanContext {
  const context = { traceId, spanId, traceFlags: flags, isRemote };
  return state === "" ? context : { ...context, traceState: createTraceState(state) };
}
