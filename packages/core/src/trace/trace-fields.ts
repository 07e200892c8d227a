import { type LogFields, type MessageHeaders, readTraceContext, type TraceContext } from "@bridge/ports";

/** The fields by which a log line is found in a trace; none without one. */
export function traceFields(context: TraceContext | undefined): LogFields {
  return context === undefined ? {} : { trace_id: context.traceId, span_id: context.spanId };
}

/** The same for a message of which no more is known than its headers; none unless the bridge traces. */
export function traceFieldsOf(headers: MessageHeaders, traces: boolean): LogFields {
  return traces ? traceFields(readTraceContext(headers)) : {};
}
