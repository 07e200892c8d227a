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
    /** Names this instance of the bridge. Default: the id and 8 random characters. */
    readonly instance_id?: string | undefined;
    /** Whether several instances share the work. In clustered mode every store must be one that instances share. Default: standalone. */
    readonly deployment_mode?: "standalone" | "clustered" | undefined;
    /** The lowest level that is logged. Default: info. */
    readonly log_level?: "debug" | "info" | "warn" | "error" | undefined;
    /** The grace period of the whole shutdown. Default: 30s. */
    readonly shutdown_timeout?: string | undefined;
    /** The most time that a runtime is given to finish its work when it is stopped. Default: 30s. */
    readonly drain_timeout?: string | undefined;
    /** What each record of an outbox batch adds to the time that the batch is given to drain. Default: 3s. */
    readonly per_record_drain_timeout?: string | undefined;
    /** The most time that the records can add for a batch. Default: 10s. */
    readonly max_drain_timeout?: string | undefined;
    /** How long a shutdown waits for messages in flight before it cancels them. The wait ends 5s before drain_timeout, or after half of it when drain_timeout is short. Default: 25s. */
    readonly quiesce_timeout?: string | undefined;
    /** How long the liveness probe answers `terminal` before a bridge that is beyond recovery ends its process. Default: 5s. */
    readonly terminal_linger?: string | undefined;
    /** How long an instance that holds an exclusive session may be silent before another takes over. It renews its lease at every quarter of this time. Default: 20s. */
    readonly lease_ttl?: string | undefined;
    /** How often an instance that waits for an exclusive session checks whether the session is free. Default: 2s. */
    readonly lease_poll_interval?: string | undefined;
    /** How many finished legs the process remembers, so that it can say where a message went: 21 bytes each. 0 switches this off. Default: 100000. */
    readonly recent_legs?: number | undefined;
  };
  /** What changes over the admin API may do. They cannot change this block. */
  readonly config?: {
    /** What changes may refer to. */
    readonly references?: {
      /** References that a change over the admin API may add, such as `env:SITE_*` or `file:/run/secrets/*`: `*` stands for anything without a `/`, `**` for anything. References that the document already has may stay where they are without it. */
      readonly allow?: readonly string[] | undefined;
    } | undefined;
  } | undefined;
  /** How changes of this document are noticed. */
  readonly config_watch?: {
    /** How a change of this document is noticed. `notify`: the operating system reports it. `poll`: the bridge looks now and then. Default: notify. */
    readonly mode?: "notify" | "poll" | undefined;
    /** How often the bridge looks, in either mode. Default: 30s. */
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
    /** Named keys that open a part of both servers. A change of this list applies at once. */
    readonly api_keys?: readonly {
      /** Names the key; audit events name its caller by this. `admin` and `monitor` are reserved. */
      readonly id: string;
      /** What callers send, at least 16 characters. */
      readonly key: string;
      /** What the key opens. `viewer` reads, without payloads. `operator` works with messages: reads, marks, redrives and deletes dead letters, injects, pauses routes. `admin` may do everything. Give this or permissions. */
      readonly role?: "viewer" | "operator" | "admin" | undefined;
      /** What the key opens, as single permissions instead of a role. */
      readonly permissions?: readonly ("read" | "payload.read" | "payload.raw" | "dlq.redrive" | "dlq.delete" | "dlq.purge" | "dlq.annotate" | "dlq.edit" | "message.inject" | "route.pause" | "outbox.move" | "bridge.control" | "damage.acknowledge" | "config.write")[] | undefined;
    }[] | undefined;
    /** The origins whose web pages may call the servers, separated by commas. `*` is not allowed. */
    readonly cors_origins?: string | undefined;
    /** How long a browser stays signed in without a request, from 1m to 30d, and never longer than session_max. Default: 1h. */
    readonly session_idle?: string | undefined;
    /** How long a browser stays signed in at most, from 1m to 30d. Default: 12h. */
    readonly session_max?: string | undefined;
    /** Whether the header X-Forwarded-Proto says that a browser uses TLS. For a proxy in front that terminates TLS and sets the header. Default: false. */
    readonly trust_forwarded_proto?: boolean | undefined;
    /** What is hidden in dead letters from callers with `payload.read` but without `payload.raw`. Without this block: the headers below. */
    readonly redact?: {
      /** Headers of messages whose values are hidden. Names are not case-sensitive. Default: ["authorization","cookie","set-cookie","x-api-key","proxy-authorization"]. */
      readonly headers?: readonly string[] | undefined;
      /** Fields of JSON payloads whose values are hidden, at any depth, but not inside a string that itself holds JSON. If there are any, a payload that is not JSON, has more than 64 levels or is larger than 1 MiB is shown as its size and digest only. */
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
      /** The size, in bytes, at which a new file is started. The full one gets the number of its last record as a suffix. Default: 67108864. */
      readonly max_bytes?: number | undefined;
      /** How many full files are kept beside the current one; older ones are deleted. Default: 10. */
      readonly keep?: number | undefined;
      /** A key of at least 32 characters that makes the hashes HMACs: nobody can forge the file without it. Empty: plain SHA-256. */
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
      /** How exports are compressed. Default: OTEL_EXPORTER_OTLP_COMPRESSION, else `none`. */
      readonly compression?: "gzip" | "none" | undefined;
      /** Certificates that the collector is checked against, a PEM file. Default: OTEL_EXPORTER_OTLP_CERTIFICATE, else those of the platform. */
      readonly ca_file?: string | undefined;
      /** `service.name`. Default: OTEL_SERVICE_NAME, else the bridge's id. */
      readonly service_name?: string | undefined;
      /** Further attributes of this process, such as `deployment.environment.name`. They win over OTEL_RESOURCE_ATTRIBUTES. */
      readonly resource_attributes?: { readonly [name: string]: string } | undefined;
      /** Metrics. */
      readonly metrics?: {
        /** Whether metrics are exported. Default: true. */
        readonly enabled?: boolean | undefined;
        /** How often metrics are exported. Default: OTEL_METRIC_EXPORT_INTERVAL, else 60s. */
        readonly interval?: string | undefined;
        /** Whether counters and histograms count from the start of the process or from the last export. Default: OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE, else `cumulative`. */
        readonly temporality?: "cumulative" | "delta" | undefined;
      } | undefined;
      /** Traces. */
      readonly traces?: {
        /** Whether deliveries are traced. Default: true. */
        readonly enabled?: boolean | undefined;
        /** The share, 0 to 1, of the messages without a trace context that begin a trace. Messages with one are traced if their source sampled them. Default: OTEL_TRACES_SAMPLER, else 1. */
        readonly sample_ratio?: number | undefined;
        /** The most spans that wait for the collector. Further spans are dropped and counted. Default: OTEL_BSP_MAX_QUEUE_SIZE, else 2048. */
        readonly max_queue?: number | undefined;
      } | undefined;
    } | undefined;
  } | undefined;
  /** The stores, one for each role. */
  readonly stores?: {
    /** Keeps dead letters. Needed by every route whose policy says `dlq`. */
    readonly dlq?: {
      /** The kind of store. May be left out only beside `abandon_backlog`: then there is no store. */
      readonly type?: string | undefined;
      /** The options of this kind of store. */
      readonly options?: { readonly [name: string]: unknown } | undefined;
      /** Lets the change that adds it leave messages behind where nobody delivers or sees them. Counts once: for a later change, take it out and add it again. Default: false. */
      readonly abandon_backlog?: boolean | undefined;
    } | undefined;
    /** Keeps accepted messages until they are sent. Needed by `shared_outbox` routes. */
    readonly outbox?: {
      /** The kind of store. May be left out only beside `abandon_backlog`: then there is no store. */
      readonly type?: string | undefined;
      /** The options of this kind of store. */
      readonly options?: { readonly [name: string]: unknown } | undefined;
      /** Lets the change that adds it leave messages behind where nobody delivers or sees them. Counts once: for a later change, take it out and add it again. Default: false. */
      readonly abandon_backlog?: boolean | undefined;
    } | undefined;
    /** Decides which instance holds an exclusive session. Needed when there is such a session. */
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
    /** How fast messages are sent, by all bindings of this sender together. A wait does not count as an attempt. Default: no limit. A change applies without stopping anything. */
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
    /** The address at the target. `{name}` stands for the value of that header, `{$subject}` and `{$id}` for subject and id of the message. In a topic of MQTT and a subject of NATS a value is one level, except for `{$subject}` and `{name...}`. */
    readonly address?: string | undefined;
  }[] | undefined;
  /** Steps that messages pass before they are sent; routes name them. */
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
      /** The same bindings for each message. */
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
      /** The most messages that are held unsettled at once. At this limit the source has to wait: there is no other back-pressure. Default: 100. */
      readonly max_in_flight?: number | undefined;
      /** The most attempts, the first one included, before a transient error counts as a failure. Default: 5. */
      readonly max_replay_attempts?: number | undefined;
      /** Above 0s: transient errors count as a failure only when the message is also older than this. Default: 0s. */
      readonly replay_budget?: string | undefined;
      /** How long one send may take. Over an exclusive session it is at most nine tenths of `lease_ttl`, and its default at most half of `lease_ttl`. Default: 30s. */
      readonly send_timeout?: string | undefined;
      /** `shared_outbox` only: how many records may wait before the source is held back. Default: 10000. */
      readonly max_outbox_depth?: number | undefined;
      /** When a message is acknowledged to its source: once the target has accepted it. Default: target_accept. */
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
  /** How many messages may go at once after a pause. Default: those of one second, at least 1. Those of 10 ms may always go at once. */
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
  /** The text begins with the value. */
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
  /** `true`: the field must be there. `false`: it must not. Default: true. */
  readonly value?: boolean | undefined;
};
