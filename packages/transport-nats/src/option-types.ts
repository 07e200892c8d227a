/**
 * What programs may write, and what each key means: made from the schemas that check it. Not edited by hand. @module
 */

/** Options of a session of `nats`. */
export interface NatsSessionOptions {
  /** Addresses of the servers of one cluster, such as "nats://host:4222" or "tls://host:4222", tried in turn. */
  readonly servers: readonly string[];
  /** The user name of the bridge at the server. */
  readonly username?: string | undefined;
  /** The password of `username`. */
  readonly password?: string | undefined;
  /** A token of the server, instead of a user. */
  readonly token?: string | undefined;
  /** The seed of the bridge's NKey. It signs the server's challenge and is never sent. */
  readonly nkey_seed?: string | undefined;
  /** The text of a .creds file: write "${file:/run/secrets/bridge.creds}". */
  readonly creds?: string | undefined;
  /** A server that is silent for two to three times this long counts as lost. Default: 10s. */
  readonly ping_interval?: string | undefined;
  /** How long one attempt to connect may take, and one request to JetStream. The requests with which consuming begins may take 30s in all. Default: 10s. */
  readonly connect_timeout?: string | undefined;
  /** How the subjects begin on which the bridge listens for answers and messages. Default: _INBOX. */
  readonly inbox_prefix?: string | undefined;
  /** The largest message, headers included, that the bridge takes in. If a message is announced as larger, the connection ends before it is read. Default: 16777216. */
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

/** Options of a receiver of `nats`. */
export interface NatsReceiverOptions {
  /** The stream that messages are taken from. */
  readonly stream: string;
  /** The durable consumer to use: the server keeps its position and what is not settled. Default: an ephemeral one of the bridge's own. */
  readonly consumer?: string | undefined;
  /** Whether the bridge creates the durable consumer if it does not exist, and keeps its `ack_wait` and `max_ack_pending` as they are set here. One that exists with another filter is an error. Default: false. */
  readonly create?: boolean | undefined;
  /** For a consumer that the bridge creates: the subjects that it takes, with `*` and `>`. Default: all of the stream. */
  readonly filter_subject?: string | undefined;
  /** For a consumer that the bridge creates: whether it begins with the stream's first message or with the next one. Default: `all`. */
  readonly deliver?: "all" | "new" | undefined;
  /** For a consumer that the bridge creates: how long after a crash a message comes again. It is extended while the bridge holds the message. Default: `30s`. */
  readonly ack_wait?: string | undefined;
  /** For a consumer that the bridge creates: messages handed out and not settled, those that wait for a retry included. Default: `max_in_flight` of the route. */
  readonly max_ack_pending?: number | undefined;
}

/** Options of a sender of `nats`. */
export interface NatsSenderOptions {
  /** The stream that must take the messages; a message that another stream takes is an error. Default: any stream. */
  readonly stream?: string | undefined;
}
