import type { BridgeError, Span, TraceContext } from "@bridge/ports";
import { type Span as SdkSpan, SpanStatusCode } from "@opentelemetry/api";

/** A span of which nothing is recorded. */
export class UnrecordedSpan implements Span {
  readonly context: TraceContext;
  readonly carried: boolean;

  constructor(context: TraceContext, carried: boolean) {
    this.context = context;
    this.carried = carried;
  }

  end(): void {}
}

/** What the policy has decided on without an error, though there is one to tell why. */
const NO_ERROR: ReadonlySet<string> = new Set(["delivered", "persisted", "duplicate", "filtered"]);

export class RecordedSpan implements Span {
  readonly context: TraceContext;
  readonly carried = true;
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
