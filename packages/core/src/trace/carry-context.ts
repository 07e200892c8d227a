import { type Envelope, type Span, TRACE_HEADERS, writeTraceContext } from "@bridge/ports";

/** The envelope with the context of a span that has just begun, if that is to be carried. */
export function withContext(envelope: Envelope, span: Span | undefined): Envelope {
  if (span?.carried !== true) return envelope;
  return { ...envelope, headers: writeTraceContext(envelope.headers, span.context) };
}

/** The same for what goes to a target. Whoever has a processor take `traceparent` away does not want to tell. */
export function sentWithContext(envelope: Envelope, span: Span | undefined): Envelope {
  return span === undefined || envelope.headers[TRACE_HEADERS.parent] === undefined
    ? envelope
    : withContext(envelope, span);
}
