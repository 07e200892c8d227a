import { TRACE_FLAGS, type TraceContext } from "@bridge/ports";
import { ROOT_CONTEXT } from "@opentelemetry/api";
import { SamplingDecision, TraceIdRatioBasedSampler } from "@opentelemetry/sdk-trace";
import type { SamplingSettings } from "../settings.ts";
import type { RandomIds } from "./random-ids.ts";

/** Decides which traces are recorded, before anything is made of the others: of most messages nothing may be. */
export class Sampling {
  readonly #parentBased: boolean;
  readonly #never: boolean;
  readonly #always: boolean;
  readonly #ratio: TraceIdRatioBasedSampler;
  readonly #ids: RandomIds;

  constructor({ ratio, parentBased }: SamplingSettings, ids: RandomIds) {
    this.#parentBased = parentBased;
    this.#never = ratio === 0;
    this.#always = ratio === 1;
    this.#ratio = new TraceIdRatioBasedSampler(ratio);
    this.#ids = ids;
  }

  /** Whether a message that comes with these flags goes on with them, and nothing of it is recorded. */
  passes(flags: number): boolean {
    return (flags & TRACE_FLAGS.sampled) === 0 && (this.#parentBased || this.#never);
  }

  /** Whether a span below `parent` is recorded; without one, whether the next trace that begins is. */
  samples(parent: TraceContext | undefined): boolean {
    if (parent !== undefined && this.#parentBased) return isSampled(parent);
    if (this.#never || this.#always) return this.#always;
    const traceId = parent?.traceId ?? this.#ids.nextTraceId();
    return this.#ratio.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED;
  }

  /** The context of what is not recorded, when the one that came does not say so already. */
  unsampled(parent: TraceContext | undefined): TraceContext {
    const { traceId, flags, state } = parent ?? { traceId: this.#ids.generateTraceId(), flags: 0, state: "" };
    return { traceId, spanId: this.#ids.generateSpanId(), flags: flags & ~TRACE_FLAGS.sampled, state };
  }
}

export function isSampled(context: TraceContext): boolean {
  return (context.flags & TRACE_FLAGS.sampled) !== 0;
}
