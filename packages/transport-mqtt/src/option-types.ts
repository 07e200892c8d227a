/**
 * What programs may write, and what each key means: made from the schemas that check it. Not edited by hand. @module
 */

/** Options of a session of `mqtt`. */
export interface MqttSessionOptions {
  /** Addresses of the broker, such as "mqtt://host:1883" or "mqtts://host:8883", tried in turn. */
  readonly broker_urls: readonly string[];
  /** Must differ for each replica, unless the session is exclusive, and stay the same over restarts. Connections that send add `-target`. Default: `bridge-<bridge id>:<session id>`, followed in a cluster by `:<instance id>` unless the session is exclusive. */
  readonly client_id?: string | undefined;
  /** 5 is MQTT 5, 4 is MQTT 3.1.1, which carries no headers. Default: 5. */
  readonly protocol_version?: 5 | 4 | undefined;
  /** A broker that is silent for one and a half times this long counts as lost. Default: 30s. */
  readonly keep_alive?: string | undefined;
  /** How long one attempt to connect may take, and one to subscribe. Default: 10s. */
  readonly connect_timeout?: string | undefined;
  /** How long the broker keeps a session that is not connected, with the messages that it has not handed over (MQTT 5, unless ephemeral). Default: 24h. */
  readonly session_expiry?: string | undefined;
  /** Messages that the broker may hand over before the first is acknowledged (MQTT 5). Default: `max_in_flight` of the routes that the session feeds, together. */
  readonly receive_maximum?: number | undefined;
  /** The largest message, headers included, that the bridge takes in. If a message is announced as larger, the connection ends before it is read. Default: 16777216. */
  readonly max_message_bytes?: number | undefined;
  /** The user name of the bridge at the broker. */
  readonly username?: string | undefined;
  /** The password of `username`. */
  readonly password?: string | undefined;
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
  /** What the broker publishes when a connection of the session is lost. */
  readonly will?: {
    /** The topic that the broker publishes it to. */
    readonly topic: string;
    /** The payload that it publishes. */
    readonly payload?: string | undefined;
    /** The quality of service with which it publishes it. Default: 0. */
    readonly qos?: 0 | 1 | 2 | undefined;
    /** Whether the broker keeps it for later subscribers. Default: false. */
    readonly retain?: boolean | undefined;
  } | undefined;
  /** `connection`: messages are acknowledged in the order of their receipt, as the standard requires. `any`: as soon as they are settled. Default: connection. */
  readonly ack_order?: "connection" | "any" | undefined;
  /** `true`: every message that was published with retain has the header `mqtt.retain`, even one that comes at once. `false`: only messages that the broker had kept (MQTT 5). Default: false. */
  readonly retain_as_published?: boolean | undefined;
  /** The user property that holds the envelope id (MQTT 5). Default: message-id. */
  readonly id_property?: string | undefined;
}

/** Options of a sender of `mqtt`. */
export interface MqttSenderOptions {
  /** 1: a message counts as sent when the broker has acknowledged it. 0: when it has left the bridge, which loses messages. Default: 1. */
  readonly qos?: 0 | 1 | undefined;
  /** Whether the broker keeps the last message of each topic for later subscribers. Default: false. */
  readonly retain?: boolean | undefined;
}
