/**
 * What programs may write, and what each key means: made from the schemas that check it. Not edited by hand. @module
 */

/** Options of a receiver of `sqs`. */
export interface SqsReceiverOptions {
  /** The URL of the queue. */
  readonly queue_url: string;
  /** How many messages one request takes at most. Default: 10. */
  readonly max_messages?: number | undefined;
  /** How long a request waits for a message, in whole seconds. Default: 20s. */
  readonly wait_time?: string | undefined;
  /** How long a message stays hidden from other consumers; extended while the bridge holds it. When the bridge is killed, its messages come again after this time. Whole seconds. Default: 30s. */
  readonly visibility_timeout?: string | undefined;
}

/** Options of a sender of `sqs`. */
export interface SqsSenderOptions {
  /** The URL of the queue. Default: the binding's address, which wins when there are both. */
  readonly queue_url?: string | undefined;
  /** The group, in a FIFO queue, of messages that have no ordering key. Without it they fail. */
  readonly message_group_id?: string | undefined;
}
