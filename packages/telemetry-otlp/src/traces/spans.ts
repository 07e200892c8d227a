import { type BridgeError, type MessageHeaders, readTraceContext, type Span, type TraceContext } from "@bridge/ports";
import { type Span as SdkSpan, SpanStatusCode } from "@opentelemetry/api";

/** A span of which nothing is recorded: whoever comes after is told so. */
export class UnrecordedSpan implements Span {
  readonly context: TraceContext;
  readonly carried = true;
  readonly recorded = false;

  constructor(context: TraceContext) {
    this.context = context;
  }

  end(): void {}
}

/** The same for a message whose headers say so already; they are read when somebody asks. */
export class PassedSpan implements Span {
  readonly carried = false;
  readonly recorded = false;
  readonly #headers: MessageHeaders;

  /** @param headers hold a valid context */
  constructor(headers: MessageHeaders) {
    this.#headers = headers;
  }

  get context(): TraceContext {
    return readTraceContext(this.#headers) ?? NO_CONTEXT;
  }

  end(): void {}
}

const NO_CONTEXT: TraceContext = { traceId: "0".repeat(32), spanId: "0".repeat(16), flags: 0, state: "" };

/** What the policy has decided on without an error, though there is one to tell why. */
const NO_ERROR: ReadonlySet<string> = new Set(["delivered", "persisted", "duplicate", "filtered"]);

export class RecordedSpan implements Span {
  readonly context: TraceContext;
  readonly carried = true;
  readonly recorded = true;
  readonly #span: SdkSpan;

  constructor(span: SdkSpan, context: TraceContext) {
    this.#span = span;
    this.context = context;
  }

  end(outcome: string, error?: BridgeError): void {
    this.#span.setAttribute("bridge.outcome", outcome);
    if (error !== undefined && !NO_ERROR.has(outcome)) {
      this.#span.setAttribute("error.type", error.code);
      this.#span.setStatus({ code: SpanStatusCode.ERROR, message: error.message });
    }
    this.#span.end();
  }
}
