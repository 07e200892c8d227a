import type { Envelope } from "./envelope.ts";

/**
 * Looks at a message before it is resolved to bindings: passes it on, changed or not, or filters it out.
 *
 * Rejects with a {@link BridgeError} to fail the message by the route's policy. Must honour `signal`.
 */
export interface Processor extends Partial<AsyncDisposable> {
  process(envelope: Envelope, signal: AbortSignal): Promise<ProcessorResult> | ProcessorResult;
}

export type ProcessorResult =
  | { readonly kind: "pass"; readonly envelope: Envelope }
  | { readonly kind: "filter"; readonly reason: string };
