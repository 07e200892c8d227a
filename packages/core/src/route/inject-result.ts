import type { BridgeError, TraceContext } from "@bridge/ports";

/**
 * What a route did with an injected message (spec 4.4). For `fan_out`, `delivered` means every leg was. `duplicate`: the
 * outbox had seen the message before and sent nothing.
 */
export interface InjectResult {
  readonly envelopeId: string;
  readonly outcome: "delivered" | "dropped" | "filtered" | "expired" | "dead_lettered" | "duplicate";
  /** Why it was not delivered; absent when it was. */
  readonly error?: BridgeError;
  /** The bindings that failed; empty when it was delivered or no binding had been chosen. */
  readonly failedBindings: readonly string[];
  /** Of a redrive through the outbox, which had it already from another redrive: nothing goes out under this id. */
  readonly unsent?: true;
  /** Of a redrive through the outbox: whether its drain, or another caller, may have deleted the dead letter. */
  readonly entryMayBeGone?: boolean;
  /** Something the caller should know although the call succeeded (spec 4.4.5). */
  readonly warning?: string;
  /** The span of the delivery; absent unless the bridge traces. */
  readonly trace?: TraceContext;
}
