import { BridgeError, type Envelope, type PluginContext, type Processor, type ProcessorResult } from "@bridge/ports";
import { describe, duration, integer } from "@bridge/ports/options";
import * as v from "valibot";
import { withChanges } from "./changes.ts";
import { IsolatedThread } from "./isolated-thread.ts";
import type { ThreadTask } from "./thread-protocol.ts";

const MAX_PAYLOAD = 16_777_216;

/** The options that bound the work on one message. */
export const boundOptions = {
  timeout: describe(
    v.optional(
      duration({ min: 10, max: 60_000, problem: "must be from 10ms to 60s: other messages wait meanwhile" }),
      "1s",
    ),
    "The most time for one message; above it the message fails as TIMEOUT.",
  ),
  max_bytes: describe(
    v.optional(integer(1, MAX_PAYLOAD), 1_048_576),
    "The largest payload, before and after; above it the message fails as PAYLOAD_TOO_LARGE.",
  ),
};

export interface Bounds {
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** A processor whose work is done in a thread of its own. */
export class IsolatedProcessor implements Processor {
  readonly #thread: IsolatedThread;
  readonly #maxBytes: number;

  constructor(task: ThreadTask, { timeoutMs, maxBytes }: Bounds, program: URL, { clock, logger }: PluginContext) {
    this.#thread = new IsolatedThread({ task, program, timeoutMs, clock, logger });
    this.#maxBytes = maxBytes;
  }

  async process(envelope: Envelope, signal: AbortSignal): Promise<ProcessorResult> {
    if (envelope.payload.length > this.#maxBytes) {
      throw new BridgeError("PAYLOAD_TOO_LARGE", `the payload has more than ${this.#maxBytes} bytes`);
    }
    return { kind: "pass", envelope: withChanges(envelope, await this.#thread.run(envelope, signal)) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#thread[Symbol.asyncDispose]();
  }
}
