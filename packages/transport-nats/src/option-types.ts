/**
 * What programs may write, and what each key means: made from the schemas that check it. Not edited by hand. @module
 */

/** Options of a session of `nats`. */
export interface NatsSessionOptions {
  /** Addresses of the servers of one cluster, such as "nats://host:4222" or "tls://host:4222", tried in turn. */
  readonly servers: readonly string[];
  /** Who the bridge is to the server. */
  readonly username?: string | undefined;
  /** Goes with `username`. */
  readonly password?: string | undefined;
  /** A token of the server, instead of a user. */
  readonly token?: string | undefined;
  /** The seed of the bridge's NKey, which is never sent: it signs what the server asks. */
  readonly nkey_seed?: string | undefined;
  /** The text of a .creds file: write "${file:/run/secrets/bridge.creds}". */
  readonly creds?: string | undefined;
  /** A server that is silent for two to three times this long is taken for lost. Default: 10s. */
  readonly ping_interval?: string | undefined;
  /** The bound of one attempt to connect, and of a request to JetStream. The requests that consuming begins with have 30s in all. Default: 10s. */
  readonly connect_timeout?: string | undefined;
  /** What the subjects begin with on which the bridge listens for answers and messages. Default: _INBOX. */
  readonly inbox_prefix?: string | undefined;
  /** The largest message, headers included, that the bridge takes in. One that is announced to be larger ends the connection before it is read. Default: 16777216. */
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
  /** The durable consumer to take them with: where it stands, and what is not settled, the server keeps. Default: an ephemeral one of the bridge's own. */
  readonly consumer?: string | undefined;
  /** Whether the bridge makes the durable consumer when it is not there, and keeps its `ack_wait` and `max_ack_pending` as they are here. One that is there with another filter is an error. Default: false. */
  readonly create?: boolean | undefined;
  /** Of a consumer that the bridge makes: the subjects it takes, with `*` and `>`. Default: all of the stream. */
  readonly filter_subject?: string | undefined;
  /** Of a consumer that the bridge makes: whether it begins with the stream's first message, or with the next to come. Default: `all`. */
  readonly deliver?: "all" | "new" | undefined;
  /** Of a consumer that the bridge makes: how long after a crash a message comes again. While it is held it is extended. Default: `30s`. */
  readonly ack_wait?: string | undefined;
  /** Of a consumer that the bridge makes: messages handed out and not settled, those that wait for a retry included. Default: `max_in_flight` of the route. */
  readonly max_ack_pending?: number | undefined;
}

/** Options of a sender of `nats`. */
export interface NatsSenderOptions {
  /** The stream that must take the messages; one that another stream takes is an error. Default: any stream. */
  readonly stream?: string | undefined;
}
