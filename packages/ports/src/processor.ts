import type { Envelope } from "./envelope.ts";
import type { BridgeError } from "./errors.ts";

/**
 * Looks at a message before it is resolved to bindings: passes it on, changed or not, or filters it out.
 *
 * Rejects with a {@link BridgeError} to fail the message by the route's policy. Must honour `signal`.
 */
export interface Processor extends Partial<AsyncDisposable> {
  process(envelope: Envelope, signal: AbortSignal): Promise<ProcessorResult> | ProcessorResult;
  /**
   * Asked before each send of a message of a route that names the processor: for every leg and every try, with the
   * envelope as it is sent. Absent: nothing is refused. At once and without waiting; what it throws refuses the send.
   *
   * A refused send is not tried. Its error is then decided on like one that the target gave: with `charged: false` and
   * `retryAfterMs` the leg waits and is not charged.
   */
  admit?(envelope: Envelope, bindingId: string): Admission;
}

export type ProcessorResult =
  | { readonly kind: "pass"; readonly envelope: Envelope }
  | { readonly kind: "filter"; readonly reason: string };

export type Admission =
  | { readonly kind: "refused"; readonly error: BridgeError }
  /** `ended` is called exactly once for each admission, when the send has ended. Must not throw. */
  | { readonly kind: "admitted"; readonly ended: (outcome: SendOutcome) => void };

/** How a send ended that was admitted. */
export type SendOutcome =
  | { readonly kind: "accepted" }
  /** Refused by the target, not answered in time, or not possible. */
  | { readonly kind: "failed"; readonly error: BridgeError }
  /** Given up, by the bridge or by the source, or not begun because another processor refused it: it says nothing. */
  | { readonly kind: "cancelled" };
