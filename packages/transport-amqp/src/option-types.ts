/**
 * What programs may write, and what each key means: made from the schemas that check it. Not edited by hand. @module
 */

/** Options of a session of `amqp`. */
export interface AmqpSessionOptions {
  /** Address of the broker, such as "amqp://host:5672" or "amqps://host/plant"; the path is the virtual host, default `/`. */
  readonly url: string;
  /** The user name of the bridge at the broker. Default: guest. */
  readonly username?: string | undefined;
  /** The password of `username`. Default: `guest`, if `username` is `guest`. */
  readonly password?: string | undefined;
  /** A broker that is silent for two to three times this long counts as lost. The broker may ask for less. Default: 10s. */
  readonly heartbeat?: string | undefined;
  /** How long one attempt to connect may take, and one to consume. Default: 10s. */
  readonly connect_timeout?: string | undefined;
  /** The largest payload that the bridge takes in. The bytes of a larger message are skipped as they come; the message stays in its queue, unacknowledged. Default: 16777216. */
  readonly max_message_bytes?: number | undefined;
  /** For addresses with TLS. */
  readonly tls?: {
    /** PEM file of the authorities to trust instead of the system's. */
    readonly ca_file?: string | undefined;
    /** PEM file of the bridge's own certificate. */
    readonly cert_file?: string | undefined;
    /** PEM file of the key to `cert_file`. */
    readonly key_file?: string | undefined;
    /** Whether the server must prove who it is. `false` is for tests only. Default: true. */
    readonly reject_unauthorized?: boolean | undefined;
  } | undefined;
}

/** Options of a receiver of `amqp`. */
export interface AmqpReceiverOptions {
  /** The queue that messages are taken from. */
  readonly queue: string;
  /** The type of the queue. Quorum queues count how often a message was handed out; for a classic one the bridge counts, in memory. Default: quorum. */
  readonly queue_type?: "quorum" | "classic" | undefined;
  /** Whether the bridge creates the queue, durable and of this type, if it does not exist. A queue that exists with other arguments is an error. Default: false. */
  readonly declare?: boolean | undefined;
  /** Messages that the broker hands over before the first is acknowledged, those that wait for a retry included. Default: `max_in_flight` of the route. */
  readonly prefetch?: number | undefined;
  /** Where a message waits for its next attempt. `hold`: in its slot, in order. `requeue`: its slot is free meanwhile, for as many others as `prefetch` exceeds `max_in_flight` by. Then the broker puts it back into the queue, where others may overtake it. A message without an id, from a queue that does not count, is held in any case, as nobody could count its attempts. Default: hold. */
  readonly retry?: "hold" | "requeue" | undefined;
}

/** Options of a sender of `amqp`. */
export interface AmqpSenderOptions {
  /** The exchange that messages are published to; bindings' addresses are routing keys. Default: the default exchange, where a routing key is the name of a queue. */
  readonly exchange?: string | undefined;
  /** Whether a message that no queue takes is an error. `false`: the broker confirms and discards it. Default: true. */
  readonly mandatory?: boolean | undefined;
  /** Whether classic queues keep messages over a restart of the broker; quorum queues always do. Default: true. */
  readonly persistent?: boolean | undefined;
}
