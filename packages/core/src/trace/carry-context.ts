import {
  type Envelope,
  type MessageHeaders,
  newHeaders,
  type Span,
  TRACE_HEADERS,
  writeTraceContext,
} from "@bridge/ports";

/**
 * Gives an envelope that has just been made the context of the span that begins with it. Its headers are nobody else's
 * yet, and so are written to: a copy for each message would be most of what tracing costs.
 */
export function beginWithContext(envelope: Envelope, span: Span | undefined): Envelope {
  if (span?.carried !== true) return envelope;
  const { headers } = envelope;
  if (Object.isFrozen(headers)) return { ...envelope, headers: withContext(headers, span) };
  writeTraceContext(headers, span.context);
  return envelope;
}

/** The same for what goes to a target. Whoever has a processor take `traceparent` away does not want to tell. */
export function sentWithContext(envelope: Envelope, span: Span | undefined): Envelope {
  if (span === undefined || envelope.headers[TRACE_HEADERS.parent] === undefined) return envelope;
  return { ...envelope, headers: withContext(envelope.headers, span) };
}

function withContext(headers: MessageHeaders, { context }: Span): MessageHeaders {
  const own = Object.assign(newHeaders(), headers);
  writeTraceContext(own, context);
  return own;
}
