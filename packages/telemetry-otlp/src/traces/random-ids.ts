import { randomFillSync } from "node:crypto";
import type { IdGenerator } from "@opentelemetry/sdk-trace";

const POOL_BYTES = 4_096;
const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;

/** Random ids of traces and spans, made many at once: one by one they would cost more than all else of a message. */
export class RandomIds implements IdGenerator {
  readonly #bytes = Buffer.allocUnsafeSlow(POOL_BYTES);
  readonly #fill: (bytes: Buffer) => void;
  #digits = "";
  #at = 0;
  #next: string | undefined;

  constructor(fill: (bytes: Buffer) => void = randomFillSync) {
    this.#fill = fill;
  }

  /** The trace id that {@link generateTraceId} gives out next. */
  nextTraceId(): string {
    return (this.#next ??= this.#take(TRACE_DIGITS));
  }

  generateTraceId(): string {
    const id = this.nextTraceId();
    this.#next = undefined;
    return id;
  }

  generateSpanId(): string {
    return this.#take(SPAN_DIGITS);
  }

  #take(length: number): string {
    for (;;) {
      if (this.#at + length > this.#digits.length) {
        this.#fill(this.#bytes);
        this.#digits = this.#bytes.toString("hex");
        this.#at = 0;
      }
      const id = this.#digits.slice(this.#at, (this.#at += length));
      // An id of zeros is none.
      if (/[^0]/.test(id)) return id;
    }
  }
}
