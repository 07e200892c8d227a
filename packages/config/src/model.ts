/**
 * A configuration that has passed validation: every default filled in, durations in milliseconds, camelCase.
 * The document that people write is described by the schema; this is what the rest of the bridge reads. @module
 */
import type { Reach, SessionMode, StoredConfig, Topic } from "@bridge/ports";
import type { Condition } from "@bridge/ports/conditions";
import type { Permission, Role } from "@bridge/ports/internal";

export interface BridgeConfig {
  /** 0 when the document has none; each commit writes one more (spec 9.2). */
  readonly configVersion: number;
  readonly bridge: BridgeSection;
  readonly configWatch: ConfigWatchSection;
  /** Absent when the document has no `http` block. */
  readonly http: HttpSection | undefined;
  readonly audit: AuditSection;
  readonly telemetry: TelemetrySection;
  readonly stores: StoresSection;
  /** The roles whose former store may keep what it holds, when this configuration comes into force. Default: none. */
  readonly abandonBacklog?: readonly StoreRole[];
  readonly sessions: readonly SessionConfig[];
  readonly receivers: readonly ReceiverConfig[];
  readonly senders: readonly SenderConfig[];
  readonly bindings: readonly BindingConfig[];
  readonly processors: readonly ProcessorConfig[];
  readonly routes: readonly RouteConfig[];
  /** The document that it was made of, for whoever keeps documents. Absent: nobody does. */
  readonly stored?: StoredConfig;
  /**
   * What came in through references and is to be seen nowhere; names, numbers, times and listed words are not among it.
   * Default: nothing.
   */
  readonly veils?: readonly string[];
}

export type LogLevel = "debug" | "info" | "warn" | "error";
export type DeploymentMode = "standalone" | "clustered";

export interface BridgeSection extends ShutdownBudgets {
  readonly id: string;
  /** Absent: the host makes one, `<id>-<random>`. */
  readonly instanceId: string | undefined;
  readonly deploymentMode: DeploymentMode;
  readonly logLevel: LogLevel;
  /** How long `/live` answers 503 `terminal` before the process exits. */
  readonly terminalLingerMs: number;
  /** How long the holder of an exclusive session may be silent. */
  readonly leaseTtlMs: number;
  /** How often one who waits for an exclusive session looks. */
  readonly leasePollIntervalMs: number;
  /** How many ends of legs the process remembers. */
  readonly recentLegs: number;
}

/** Spec 2.14. */
export interface ShutdownBudgets {
  readonly shutdownTimeoutMs: number;
  readonly drainTimeoutMs: number;
  readonly perRecordDrainTimeoutMs: number;
  readonly maxDrainTimeoutMs: number;
  /** Clamped to `drainTimeoutMs`. */
  readonly quiesceTimeoutMs: number;
}

export interface ConfigWatchSection {
  readonly mode: "notify" | "poll";
  readonly pollIntervalMs: number;
  readonly debounceMs: number;
}

/** A key of the servers that opens what its role, or its permissions, say: one of them is there. */
export interface ApiKey {
  readonly id: string;
  readonly key: string;
  readonly role?: Role | undefined;
  readonly permissions?: readonly Permission[] | undefined;
}

export interface HttpSection {
  readonly adminAddr: string;
  readonly monitorAddr: string;
  /** Empty: taken from the environment by the host. */
  readonly adminApiKey: string;
  readonly monitorApiKey: string;
  /** In force as they are now, unlike the rest, which counts as it was when the process started. */
  readonly apiKeys: readonly ApiKey[];
  readonly corsOrigins: readonly string[];
  readonly tlsCertFile: string;
  readonly tlsKeyFile: string;
  /** Of browsers. Absent: the usual times. */
  readonly sessions?: BrowserSessions | undefined;
  /** What of dead letters is shown only to callers with `payload.raw`. Absent: the usual headers. */
  readonly redact?: { readonly headers: readonly string[]; readonly fields: readonly string[] } | undefined;
}

export interface BrowserSessions {
  /** How long one lives without a request, and at most. */
  readonly idleMs: number;
  readonly maxMs: number;
  /** Whether `X-Forwarded-Proto` says that a browser speaks TLS. */
  readonly trustForwardedProto: boolean;
}

export interface AuditSection {
  readonly log: boolean;
  readonly file:
    | {
        readonly path: string;
        readonly maxBytes: number;
        readonly keep: number;
        /** A secret. Absent: hashes are plain. */
        readonly hmacKey: string | undefined;
      }
    | undefined;
}

/** Fields that are absent are the environment's (`OTEL_*`), and else have OpenTelemetry's defaults. */
export interface OtlpSection {
  readonly endpoint: string | undefined;
  /** Secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number | undefined;
  readonly compression: "gzip" | "none" | undefined;
  readonly caFile: string | undefined;
  readonly serviceName: string | undefined;
  readonly resourceAttributes: Readonly<Record<string, string>>;
  readonly metrics: {
    readonly enabled: boolean;
    readonly intervalMs: number | undefined;
    readonly temporality: "cumulative" | "delta" | undefined;
  };
  readonly traces: {
    readonly enabled: boolean;
    readonly sampleRatio: number | undefined;
    readonly maxQueue: number | undefined;
  };
}

export interface TelemetrySection {
  readonly otlp: OtlpSection | undefined;
}

export type StoreRole = "dlq" | "outbox" | "lease";
export type StoresSection = { readonly [role in StoreRole]?: StoreConfig | undefined };

export interface StoreConfig {
  readonly type: string;
  /** Output of the plugin's option schema. */
  readonly options: unknown;
  readonly reach: Reach;
  /** As its plugin tells it. Absent: the options are the place. */
  readonly place?: string;
}

export interface SessionConfig {
  readonly id: string;
  readonly transport: string;
  readonly sessionMode: SessionMode;
  readonly options: unknown;
}

export interface ReceiverConfig {
  readonly id: string;
  readonly transport: string;
  readonly sessionId: string | undefined;
  readonly topics: readonly Topic[];
  readonly options: unknown;
}

export interface SenderConfig {
  readonly id: string;
  readonly transport: string;
  readonly sessionId: string | undefined;
  /** Of all sends together; absent: no limit. */
  readonly rateLimit?: RateLimit | undefined;
  readonly options: unknown;
}

/** How fast something may go. */
export interface RateLimit {
  readonly messagesPerSecond: number;
  /** How many may go at once after a rest, at least 1. */
  readonly burst: number;
}

export interface BindingConfig {
  readonly id: string;
  readonly senderId: string;
  /** The session of this binding's sends: its own, else its sender's, else none. */
  readonly sessionId: string | undefined;
  /** Whether the binding itself names the session ("managed"), for the naming in a stop error (spec 3.3). */
  readonly managed: boolean;
  readonly address: string;
  /** The address, or a part of it, came in through a reference: it is not to be shown. */
  readonly hidesAddress?: true;
}

export interface ProcessorConfig {
  readonly id: string;
  readonly type: string;
  readonly options: unknown;
}

export type DeliveryMode = "direct_hold" | "shared_outbox";
export type DispatchMode = "single" | "fan_out";
export type FailureAction = "dlq" | "drop";

export interface RouteConfig {
  readonly id: string;
  readonly receiverId: string;
  readonly deliveryMode: DeliveryMode;
  readonly dispatchMode: DispatchMode;
  readonly processors: readonly string[];
  readonly resolver: ResolverConfig;
  /** Binding ids, at least one. */
  readonly bindings: readonly string[];
  readonly policy: RoutePolicy;
  /** Of what its receiver brings in; absent: no limit. */
  readonly rateLimit?: RateLimit | undefined;
}

/** Which of a route's bindings get a message. In `single` each choice is exactly one. */
export type ResolverConfig =
  /** Every binding of the route: the default of `fan_out`. */
  | { readonly type: "all" }
  /** The same bindings for each message: the default of `single`, with the route's first. */
  | { readonly type: "static"; readonly bindings: readonly string[] }
  /** First rule that matches wins. */
  | { readonly type: "rules"; readonly rules: readonly ResolverRule[]; readonly defaultBindings: readonly string[] }
  /** By the exact value of one header. */
  | {
      readonly type: "header_map";
      readonly header: string;
      readonly map: ReadonlyMap<string, readonly string[]>;
      readonly defaultBindings: readonly string[];
    };

export interface ResolverRule {
  /** All of them must hold. */
  readonly when: readonly Condition[];
  readonly bindings: readonly string[];
}

export interface RoutePolicy {
  /** The most deliveries held unsettled at once. */
  readonly maxInFlight: number;
  /** Attempts in all, the first one included (contract §5). */
  readonly maxReplayAttempts: number;
  /** Above 0: transient errors reach the policy only after the cap and this age. */
  readonly replayBudgetMs: number;
  readonly sendTimeoutMs: number;
  readonly maxOutboxDepth: number;
  readonly ackAfter: "target_accept";
  readonly onPermanentFailure: FailureAction;
  readonly onExpired: FailureAction;
  readonly onFiltered: FailureAction;
  readonly allowUnfenced: boolean;
  readonly backoff: BackoffPolicy;
}

export interface BackoffPolicy {
  readonly initialIntervalMs: number;
  readonly maxIntervalMs: number;
  /** At least 1. */
  readonly multiplier: number;
  /** Each delay is spread by up to this fraction of itself, up or down; 0 to 1. */
  readonly jitter: number;
}
