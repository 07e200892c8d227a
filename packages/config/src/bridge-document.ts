/**
 * What programs may write, and what each key means: made from the schemas that check it. Not edited by hand. @module
 */

/** A configuration document; the options of each part are those of its plugin. */
export interface BridgeDocument {
  /** Counts the changes made through the admin API. The bridge writes it; leave it alone. Default: 0. */
  readonly config_version?: number | undefined;
  /** The instance as a whole. */
  readonly bridge: {
    /** Names the bridge. */
    readonly id: string;
    /** Names this instance of it. Default: the id and something random. */
    readonly instance_id?: string | undefined;
    /** Whether several instances share the work. In clustered mode every store must be one that instances share. Default: standalone. */
    readonly deployment_mode?: "standalone" | "clustered" | undefined;
    /** The least level that is logged. Default: info. */
    readonly log_level?: "debug" | "info" | "warn" | "error" | undefined;
    /** The grace period of a shutdown as a whole. Default: 30s. */
    readonly shutdown_timeout?: string | undefined;
    /** The most time that a runtime is given to finish its work when it is stopped. Default: 30s. */
    readonly drain_timeout?: string | undefined;
    /** What each record of an outbox batch adds to the time that the batch is given to drain. Default: 3s. */
    readonly per_record_drain_timeout?: string | undefined;
    /** The most that records can add to a batch's time. Default: 10s. */
    readonly max_drain_timeout?: string | undefined;
    /** How long a shutdown waits for messages in flight before it cancels them. It ends 5s before drain_timeout does, or after half of that when it is short. Default: 25s. */
    readonly quiesce_timeout?: string | undefined;
    /** How long the liveness probe answers `terminal` before a bridge that is beyond recovery ends its process. Default: 5s. */
    readonly terminal_linger?: string | undefined;
    /** How long an instance that holds an exclusive session may be silent before another takes over. It renews its lease every quarter of that. Default: 20s. */
    readonly lease_ttl?: string | undefined;
    /** How often an instance that waits for an exclusive session looks whether it is free. Default: 2s. */
    readonly lease_poll_interval?: string | undefined;
    /** How many ends of legs the process remembers, to tell where a message went: 21 bytes each. 0 switches it off. Default: 100000. */
    readonly recent_legs?: number | undefined;
  };
  /** What changes over the admin API may do. Not changed by them. */
  readonly config?: {
    /** What changes may refer to. */
    readonly references?: {
      /** References that a change over the admin API may bring, such as `env:SITE_*` or `file:/run/secrets/*`: `*` stands for anything without a `/`, `**` for anything. Those that the document has stay where they are without it. */
      readonly allow?: readonly string[] | undefined;
    } | undefined;
  } | undefined;
  /** How changes of this document are noticed. */
  readonly config_watch?: {
    /** How a change of this document is noticed: told by the operating system, or by looking now and then. Default: notify. */
    readonly mode?: "notify" | "poll" | undefined;
    /** How often to look, in either mode. Default: 30s. */
    readonly poll_interval?: string | undefined;
    /** How long a change must have settled before it is read. Default: 100ms. */
    readonly debounce?: string | undefined;
  } | undefined;
  /** The two servers. Without this block: the defaults of the application. */
  readonly http?: {
    /** Where the admin server listens. Default: :8080. */
    readonly admin_addr?: string | undefined;
    /** Where the monitor server listens. Default: :8081. */
    readonly monitor_addr?: string | undefined;
    /** The key of the admin server, at least 16 characters. Empty: taken from BRIDGE_ADMIN_API_KEY. */
    readonly admin_api_key?: string | undefined;
    /** The key of the monitor server, at least 16 characters. Empty: taken from BRIDGE_MONITOR_API_KEY. The admin key opens it too. */
    readonly monitor_api_key?: string | undefined;
    /** Keys with names of their own that open a part of both servers. A change of this list applies at once. */
    readonly api_keys?: readonly {
      /** Names the key: audit events call whoever shows it by this name. `admin` and `monitor` are taken. */
      readonly id: string;
      /** What callers send, at least 16 characters. */
      readonly key: string;
      /** What the key opens. `viewer` looks, without payloads. `operator` works with messages: reads, marks, redrives and deletes dead letters, injects, pauses routes. `admin` may do everything. Give this or permissions. */
      readonly role?: "viewer" | "operator" | "admin" | undefined;
      /** What the key opens, one by one, in place of a role. */
      readonly permissions?: readonly ("read" | "payload.read" | "payload.raw" | "dlq.redrive" | "dlq.delete" | "dlq.purge" | "dlq.annotate" | "dlq.edit" | "message.inject" | "route.pause" | "outbox.move" | "bridge.control" | "damage.acknowledge" | "config.write")[] | undefined;
    }[] | undefined;
    /** The origins whose web pages may call the servers, separated by commas. `*` is not allowed. */
    readonly cors_origins?: string | undefined;
    /** How long a browser stays signed in without a request, from 1m to 30d, and never longer than session_max. Default: 1h. */
    readonly session_idle?: string | undefined;
    /** How long a browser stays signed in at most, from 1m to 30d. Default: 12h. */
    readonly session_max?: string | undefined;
    /** Whether the header X-Forwarded-Proto says that a browser speaks TLS. For a proxy in front that ends TLS and sets it. Default: false. */
    readonly trust_forwarded_proto?: boolean | undefined;
    /** What of dead letters is hidden from callers with `payload.read` and without `payload.raw`. Without this block: the headers below. */
    readonly redact?: {
      /** Headers of messages whose values are hidden. Names compare without case. Default: ["authorization","cookie","set-cookie","x-api-key","proxy-authorization"]. */
      readonly headers?: readonly string[] | undefined;
      /** Fields of JSON payloads whose values are hidden, at any depth, but not within JSON that is the text of a value. While there are any, a payload that is no JSON, deeper than 64 levels or larger than 1 MiB is shown as its size and digest only. */
      readonly fields?: readonly string[] | undefined;
    } | undefined;
    /** The certificate chain of both servers, a PEM file. Needs tls_key_file. */
    readonly tls_cert_file?: string | undefined;
    /** The private key of the certificate, a PEM file. Needs tls_cert_file. */
    readonly tls_key_file?: string | undefined;
  } | undefined;
  /** Where audit events go. */
  readonly audit?: {
    /** Whether audit events are written to the log. Default: true. */
    readonly log?: boolean | undefined;
    /** An audit file, in addition to the log. */
    readonly file?: {
      /** The file that events are appended to, one line of JSON each, chained by hashes. A relative path starts at the working directory; the folder is made if missing. */
      readonly path: string;
      /** The size, in bytes, at which a new file is begun. The full one gets the number of its last record as a suffix. Default: 67108864. */
      readonly max_bytes?: number | undefined;
      /** How many full files are kept beside the current one; older ones are deleted. Default: 10. */
      readonly keep?: number | undefined;
      /** A key of at least 32 characters, with which the hashes become HMACs: who has not got it cannot forge the file. Empty: plain SHA-256. */
      readonly hmac_key?: string | undefined;
    } | undefined;
  } | undefined;
  /** What is exported, besides the metrics of the monitor server. */
  readonly telemetry?: {
    /** Metrics and traces for a collector of OpenTelemetry, over OTLP (http/protobuf). Without this block there are none. */
    readonly otlp?: {
      /** The collector, without `/v1/traces` and `/v1/metrics`. Default: OTEL_EXPORTER_OTLP_ENDPOINT, else http://localhost:4318. */
      readonly endpoint?: string | undefined;
      /** Headers of each request, such as an API key, besides those of OTEL_EXPORTER_OTLP_HEADERS. */
      readonly headers?: { readonly [name: string]: string } | undefined;
      /** How long an export may take, with its retries. Default: OTEL_EXPORTER_OTLP_TIMEOUT, else 10s. */
      readonly timeout?: string | undefined;
      /** Default: OTEL_EXPORTER_OTLP_COMPRESSION, else `none`. */
      readonly compression?: "gzip" | "none" | undefined;
      /** Certificates that the collector is checked against, a PEM file. Default: OTEL_EXPORTER_OTLP_CERTIFICATE, else those of the platform. */
      readonly ca_file?: string | undefined;
      /** `service.name`. Default: OTEL_SERVICE_NAME, else the bridge's id. */
      readonly service_name?: string | undefined;
      /** What else is said of this process, such as `deployment.environment.name`; wins over OTEL_RESOURCE_ATTRIBUTES. */
      readonly resource_attributes?: { readonly [name: string]: string } | undefined;
      /** Metrics. */
      readonly metrics?: {
        /** Whether metrics are exported. Default: true. */
        readonly enabled?: boolean | undefined;
        /** How often. Default: OTEL_METRIC_EXPORT_INTERVAL, else 60s. */
        readonly interval?: string | undefined;
        /** Whether counters and histograms are told since the start or since the last time. Default: OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE, else `cumulative`. */
        readonly temporality?: "cumulative" | "delta" | undefined;
      } | undefined;
      /** Traces. */
      readonly traces?: {
        /** Whether deliveries are traced. Default: true. */
        readonly enabled?: boolean | undefined;
        /** The part of the messages without a trace context that begin a trace, 0 to 1; of the others, what is sampled at the source is. Default: OTEL_TRACES_SAMPLER, else 1. */
        readonly sample_ratio?: number | undefined;
        /** How many spans wait for the collector at most; what is beyond is dropped and counted. Default: OTEL_BSP_MAX_QUEUE_SIZE, else 2048. */
        readonly max_queue?: number | undefined;
      } | undefined;
    } | undefined;
  } | undefined;
  /** The stores, one a role. */
  readonly stores?: {
    /** Keeps dead letters. Needed by every route whose policy says `dlq`. */
    readonly dlq?: {
      /** The kind of store. Left out only beside `abandon_backlog`: there is none. */
      readonly type?: string | undefined;
      /** The options of this kind of store. */
      readonly options?: { readonly [name: string]: unknown } | undefined;
      /** Lets the change that brings it leave messages behind where nobody delivers or sees them. Counts once: a later change needs it taken out and brought again. Default: false. */
      readonly abandon_backlog?: boolean | undefined;
    } | undefined;
    /** Keeps accepted messages until they are sent. Needed by `shared_outbox` routes. */
    readonly outbox?: {
      /** The kind of store. Left out only beside `abandon_backlog`: there is none. */
      readonly type?: string | undefined;
      /** The options of this kind of store. */
      readonly options?: { readonly [name: string]: unknown } | undefined;
      /** Lets the change that brings it leave messages behind where nobody delivers or sees them. Counts once: a later change needs it taken out and brought again. Default: false. */
      readonly abandon_backlog?: boolean | undefined;
    } | undefined;
    /** Decides which instance holds an exclusive session. Needed by those. */
    readonly lease?: {
      /** The kind of store. */
      readonly type: string;
      /** The options of this kind of store. */
      readonly options?: { readonly [name: string]: unknown } | undefined;
    } | undefined;
  } | undefined;
  /** Connections to brokers. */
  readonly sessions?: readonly {
    /** Names the session. */
    readonly id: string;
    /** The transport that it belongs to. */
    readonly transport: string;
    /** `ephemeral`: the broker forgets the session with its connection. `persistent`: the broker keeps it, with what was not settled. `exclusive`: persistent, and held by one instance at a time. Default: persistent. */
    readonly session_mode?: "ephemeral" | "persistent" | "exclusive" | undefined;
    /** The options that this transport has for sessions. */
    readonly options?: { readonly [name: string]: unknown } | undefined;
  }[] | undefined;
  /** Where messages come from. Each feeds exactly one route. */
  readonly receivers?: readonly {
    /** Names the receiver; it is the source id of its messages. */
    readonly id: string;
    /** The transport. Default: that of the session. */
    readonly transport?: string | undefined;
    /** The session that messages come over, if the transport has sessions. */
    readonly session_id?: string | undefined;
    /** What to listen to, if the transport has topics. */
    readonly topics?: readonly {
      /** The topic or topic filter, as the broker writes it. */
      readonly topic: string;
      /** The quality of service to ask for. Default: 1. */
      readonly qos?: 0 | 1 | 2 | undefined;
    }[] | undefined;
    /** The options that this transport has for receivers. */
    readonly options?: { readonly [name: string]: unknown } | undefined;
  }[] | undefined;
  /** Where messages go. */
  readonly senders?: readonly {
    /** Names the sender. */
    readonly id: string;
    /** The transport. Default: that of the session. */
    readonly transport?: string | undefined;
    /** The session that messages go over, if the transport has sessions. */
    readonly session_id?: string | undefined;
    /** How fast messages are sent, by all bindings of this sender together. What has to wait is not charged an attempt. Default: no limit. A change applies without stopping anything. */
    readonly rate_limit?: RateLimitOptions | undefined;
    /** The options that this transport has for senders. */
    readonly options?: { readonly [name: string]: unknown } | undefined;
  }[] | undefined;
  /** Addresses at senders; routes name them. */
  readonly bindings?: readonly {
    /** Names the binding. */
    readonly id: string;
    /** The sender that sends for it. */
    readonly sender_id: string;
    /** The session that its messages go over; the bridge then manages it. Default: that of the sender. */
    readonly session_id?: string | undefined;
    /** Where at the target. `{name}` stands for the value of that header, `{$subject}` and `{$id}` for the message's own. In a topic of MQTT and a subject of NATS a value is one level, but for the subject's and that of `{name...}`. */
    readonly address?: string | undefined;
  }[] | undefined;
  /** Steps that look at messages before they are sent; routes name them. */
  readonly processors?: readonly {
    /** Names the processor. */
    readonly id: string;
    /** The kind of processor. */
    readonly type: string;
    /** The options of this kind of processor. */
    readonly options?: { readonly [name: string]: unknown } | undefined;
  }[] | undefined;
  /** From a receiver to bindings. */
  readonly routes?: readonly {
    /** Names the route. */
    readonly id: string;
    /** The receiver that feeds it. */
    readonly receiver_id: string;
    /** `direct_hold`: the source keeps a message until the target has it. `shared_outbox`: the outbox keeps it. Default: direct_hold. */
    readonly delivery_mode?: "direct_hold" | "shared_outbox" | undefined;
    /** `single`: each message goes to one binding. `fan_out`: to all that the resolver chooses. Default: single. */
    readonly dispatch_mode?: "single" | "fan_out" | undefined;
    /** The processors that each message passes, in this order. */
    readonly processors?: readonly string[] | undefined;
    /** Which bindings get a message. Default: the first one in `single`, all in `fan_out`. */
    readonly resolver?: {
      /** Every binding of the route. */
      readonly type: "all";
    } | {
      /** The same for each message. */
      readonly type: "static";
      /** The binding to send to, or a list of them. */
      readonly binding: string | readonly string[];
    } | {
      /** By rules on subject, headers and payload. */
      readonly type: "rules";
      /** The first rule that matches wins. */
      readonly rules?: readonly {
        /** A condition, or a list of them that must all hold. */
        readonly when: ConditionOptions | readonly ConditionOptions[];
        /** The binding to send to, or a list of them. */
        readonly binding: string | readonly string[];
      }[] | undefined;
      /** The binding, or a list of them, when nothing else matches. Default: the message fails as BINDING_UNRESOLVED. */
      readonly default_binding?: string | readonly string[] | undefined;
    } | {
      /** By the exact value of one header. */
      readonly type: "header_map";
      /** The header to look at. */
      readonly header: string;
      /** From a value of the header to a binding, or a list of them. */
      readonly map: { readonly [name: string]: string | readonly string[] };
      /** The binding, or a list of them, when nothing else matches. Default: the message fails as BINDING_UNRESOLVED. */
      readonly default_binding?: string | readonly string[] | undefined;
    } | undefined;
    /** The bindings that messages can go to. */
    readonly bindings: readonly string[];
    /** Limits, retries and failures. */
    readonly policy?: {
      /** The most messages that are held unsettled at once: the whole of the back-pressure. Default: 100. */
      readonly max_in_flight?: number | undefined;
      /** The most attempts, the first one included, before a transient error counts as a failure. Default: 5. */
      readonly max_replay_attempts?: number | undefined;
      /** Above 0s: transient errors count as a failure only when the message is also older than this. Default: 0s. */
      readonly replay_budget?: string | undefined;
      /** How long one send may take. Over an exclusive session it is nine tenths of `lease_ttl` at the most, and is half of that at the most if it is not written. Default: 30s. */
      readonly send_timeout?: string | undefined;
      /** `shared_outbox` only: how many records may wait before the source is held back. Default: 10000. */
      readonly max_outbox_depth?: number | undefined;
      /** When the source is told to forget a message: once the target has accepted it. Default: target_accept. */
      readonly ack_after?: "target_accept" | undefined;
      /** What becomes of a message that failed for good: kept in the DLQ, or dropped. Default: dlq. */
      readonly on_permanent_failure?: "dlq" | "drop" | undefined;
      /** What becomes of a message that expired before it was sent. Default: dlq. */
      readonly on_expired?: "dlq" | "drop" | undefined;
      /** What becomes of a message that a processor filtered out. Default: drop. */
      readonly on_filtered?: "dlq" | "drop" | undefined;
      /** Declares that exactly one replica consumes the subscription. Default: false. */
      readonly allow_unfenced?: boolean | undefined;
      /** The waits between attempts. */
      readonly backoff?: {
        /** The wait before the first retry. Default: 1s. */
        readonly initial_interval?: string | undefined;
        /** The longest wait between two attempts. Default: 30s. */
        readonly max_interval?: string | undefined;
        /** What each wait is multiplied by to give the next; at least 1. Default: 2. */
        readonly multiplier?: number | undefined;
        /** The fraction by which each wait is spread at random, up or down; 0 to 1. Default: 0.2. */
        readonly jitter?: number | undefined;
      } | undefined;
    } | undefined;
    /** How fast messages are taken from the receiver; what an operator injects or redrives does not count. Default: no limit. A change applies without stopping anything. */
    readonly rate_limit?: RateLimitOptions | undefined;
  }[] | undefined;
}

/** How fast messages go. */
export interface RateLimitOptions {
  /** How many messages go through each second, in the long run. */
  readonly messages_per_second: number;
  /** How many may go at once after a rest. Default: those of one second, at least 1. What fits into 10 ms always may. */
  readonly burst?: number | undefined;
}

/** One test of a message. */
export type ConditionOptions = {
  /** What to look at: `subject`, `header.<name>`, or a path into a JSON payload such as `$.device.kind`. */
  readonly field: string;
  /** Equal; not equal; a part of the text or an element of the list. */
  readonly op: "eq" | "ne" | "contains";
  /** What to compare with. */
  readonly value: string | number | boolean;
} | {
  /** What to look at: `subject`, `header.<name>`, or a path into a JSON payload such as `$.device.kind`. */
  readonly field: string;
  /** The text begins with it. */
  readonly op: "prefix";
  /** What to compare with. */
  readonly value: string;
} | {
  /** What to look at: `subject`, `header.<name>`, or a path into a JSON payload such as `$.device.kind`. */
  readonly field: string;
  /** The regular expression, in the syntax of RE2 and with at most 4,096 characters, matches somewhere in the text. */
  readonly op: "regex";
  /** What to compare with. */
  readonly value: string;
} | {
  /** What to look at: `subject`, `header.<name>`, or a path into a JSON payload such as `$.device.kind`. */
  readonly field: string;
  /** Greater or less; numbers as numbers, text as text. */
  readonly op: "gt" | "gte" | "lt" | "lte";
  /** What to compare with. */
  readonly value: string | number;
} | {
  /** What to look at: `subject`, `header.<name>`, or a path into a JSON payload such as `$.device.kind`. */
  readonly field: string;
  /** Equal to one of a list. */
  readonly op: "in";
  /** What to compare with. */
  readonly value: readonly (string | number | boolean)[];
} | {
  /** What to look at: `subject`, `header.<name>`, or a path into a JSON payload such as `$.device.kind`. */
  readonly field: string;
  /** The field is there, or is not. */
  readonly op: "exists";
  /** Whether the field must be there, or must not. Default: true. */
  readonly value?: boolean | undefined;
};
