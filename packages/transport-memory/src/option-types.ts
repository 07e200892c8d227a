/**
 * What programs may write, and what each key means: made from the schemas that check it. Not edited by hand. @module
 */

/** Options of a receiver of `memory`. */
export interface MemoryReceiverOptions {
  /** The channel that messages are taken from. */
  readonly channel: string;
  /** How long a message that was not settled waits before it is handed out again. Default: 0s. */
  readonly redelivery_delay?: string | undefined;
  /** Whether deliveries say how often they have been handed out. Default: true. */
  readonly counts?: boolean | undefined;
  /** Whether the channel takes a delivery back to hand it out later. Default: true. */
  readonly releasable?: boolean | undefined;
}

/** Options of a sender of `memory`. */
export interface MemorySenderOptions {
  /** The channel of messages whose binding has no address. */
  readonly channel?: string | undefined;
  /** Sends fail as UNAVAILABLE while the channel holds this many messages. Default: the hub's limit, 100,000. */
  readonly max_messages?: number | undefined;
  /** Counts messages instead of keeping them. Default: false. */
  readonly discard?: boolean | undefined;
}
