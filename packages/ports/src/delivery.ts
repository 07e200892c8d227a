import type { SourceMessage } from "./envelope.ts";
import type { BridgeError } from "./errors.ts";

/** What became of a message that its source may forget. */
export type AcceptedOutcome =
  | "delivered"
  | "persisted"
  | "duplicate"
  | "dead_lettered"
  | "dropped"
  | "filtered"
  | "expired";

/** What the source is to do with a delivery. */
export type Settlement =
  /** Forget it: it was sent, dropped on purpose, or kept somewhere durable. */
  | { readonly kind: "accept"; readonly outcome: AcceptedOutcome; readonly envelopeId: string }
  /** Hand it out again, not before `delayMs`. Given only to a delivery that is {@link Delivery.releasable}. */
  | { readonly kind: "release"; readonly delayMs: number }
  /** Not taken, and never will be: its owner is to be told why. Given only to one that is {@link Delivery.refusable}. */
  | { readonly kind: "refuse"; readonly error: BridgeError };

/**
 * One attempt of a source to hand a message over.
 *
 * The engine settles it at most once, after the proof. A delivery that is never settled stays the source's to hand
 * out again: that is how cancellation, shutdown and a lost connection look from here.
 */
export interface Delivery {
  readonly message: SourceMessage;
  /** How often the source has handed this message out, this time included; absent when it does not count. */
  readonly receiveCount?: number | undefined;
  /**
   * Aborts when the source has taken the delivery back (its connection is lost, its caller has given up). The engine
   * then abandons the work and never settles. One signal may serve all deliveries of a connection.
   */
  readonly signal?: AbortSignal | undefined;
  /** Whether the source can hand the message out again later, so that waiting for a retry need not hold a slot. */
  readonly releasable?: boolean | undefined;
  /** Whether the source can tell the message's owner, who waits for the answer, that it was not taken. */
  readonly refusable?: boolean | undefined;
  /** Why the message could not even be decoded: the engine then writes `payload` to the DLQ as rejected. */
  readonly undecodable?: BridgeError | undefined;
  /**
   * Asked when all waiting for a slot, a pause or the rate is over and the work on it is about to begin, and again when it has waited
   * since, such as for the rate of its sender or for an outbox to take it, as long as nothing of it was sent or is known to be stored.
   * `false`: nobody waits for its answer any more, and the source has forgotten it. Then the engine does, too, and its turn goes to the
   * next. Default: `true`.
   */
  begin?(): boolean;
  /**
   * Tells the source. May return nothing when it was told at once; otherwise the promise resolves when it has been
   * told, and rejects with a {@link BridgeError} when that came too late: the source will then redeliver.
   */
  settle(settlement: Settlement): Promise<void> | void;
}
