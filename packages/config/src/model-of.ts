import type {
  BindingConfig,
  BridgeConfig,
  OtlpSection,
  RateLimit,
  ResolverConfig,
  RouteConfig,
  RoutePolicy,
  StoreConfig,
  StoreRole,
  StoresSection,
} from "./model.ts";
import { mapped, type Steps } from "@bridge/ports/internal";
import type { PluginOptions } from "./plugin-options.ts";
import type { Path } from "./problem.ts";
import type { Registry } from "./registry.ts";
import type { ConfigDocument } from "./schema/document.ts";
import { stopBudget } from "./stop-budget.ts";

type Element<K extends "bindings" | "routes"> = ConfigDocument[K][number];

/** What the model does not say of the places of a document. */
interface Known {
  readonly written: (path: Path) => boolean;
  readonly cameIn: (path: Path) => boolean;
}

/** What the rest of the bridge reads, of a document in which nothing is wrong. */
export function* modelOf(
  document: ConfigDocument,
  options: PluginOptions,
  registry: Registry,
  { written, cameIn }: Known,
): Steps<BridgeConfig> {
  const transports = new Map(document.sessions.map((session) => [session.id, session.transport]));
  const transportOf = (part: { transport: string; session_id?: string | undefined }): string =>
    part.transport === "" ? (transports.get(part.session_id ?? "") ?? "") : part.transport;
  const used = new UsedSessions(document);
  return {
    configVersion: document.config_version,
    ...sectionsOf(document),
    stores: storesOf(document, options, registry),
    ...abandoned(document),
    sessions: yield* mapped(document.sessions, (session, index) => ({
      id: session.id,
      transport: session.transport,
      sessionMode: session.session_mode,
      options: options.at(["sessions", index, "options"]),
    })),
    receivers: yield* mapped(document.receivers, (receiver, index) => ({
      id: receiver.id,
      transport: transportOf(receiver),
      sessionId: receiver.session_id,
      topics: receiver.topics,
      options: options.at(["receivers", index, "options"]),
    })),
    senders: yield* mapped(document.senders, (sender, index) => ({
      id: sender.id,
      transport: transportOf(sender),
      sessionId: sender.session_id,
      rateLimit: rateLimitOf(sender.rate_limit),
      options: options.at(["senders", index, "options"]),
    })),
    bindings: yield* mapped(document.bindings, (binding, index) => ({
      ...bindingOf(binding, used.ofBinding(binding)),
      ...(cameIn(["bindings", index, "address"]) && { hidesAddress: true }),
    })),
    processors: yield* mapped(document.processors, ({ id, type }, index) => ({
      id,
      type,
      options: options.at(["processors", index, "options"]),
    })),
    routes: yield* mapped(document.routes, (route, index) => {
      const own = written(["routes", index, "policy", "send_timeout"]);
      return routeOf(
        route,
        own ? route.policy.send_timeout : defaultSendTimeoutMs(document, used.ofRoute(route), route),
      );
    }),
  };
}

function sectionsOf({
  bridge,
  config_watch: watch,
  http,
  audit,
  telemetry: { otlp },
}: ConfigDocument): Pick<BridgeConfig, "bridge" | "configWatch" | "http" | "audit" | "telemetry"> {
  return {
    bridge: {
      id: bridge.id,
      instanceId: bridge.instance_id,
      deploymentMode: bridge.deployment_mode,
      logLevel: bridge.log_level,
      shutdownTimeoutMs: bridge.shutdown_timeout,
      drainTimeoutMs: bridge.drain_timeout,
      perRecordDrainTimeoutMs: bridge.per_record_drain_timeout,
      maxDrainTimeoutMs: bridge.max_drain_timeout,
      quiesceTimeoutMs: stopBudget({
        drainTimeoutMs: bridge.drain_timeout,
        quiesceTimeoutMs: bridge.quiesce_timeout,
      }).quiesceMs,
      terminalLingerMs: bridge.terminal_linger,
      leaseTtlMs: bridge.lease_ttl,
      leasePollIntervalMs: bridge.lease_poll_interval,
      recentLegs: bridge.recent_legs,
    },
    configWatch: { mode: watch.mode, pollIntervalMs: watch.poll_interval, debounceMs: watch.debounce },
    http: http && {
      adminAddr: http.admin_addr,
      monitorAddr: http.monitor_addr,
      adminApiKey: http.admin_api_key,
      monitorApiKey: http.monitor_api_key,
      apiKeys: http.api_keys,
      corsOrigins: http.cors_origins,
      sessions: {
        idleMs: http.session_idle,
        maxMs: http.session_max,
        trustForwardedProto: http.trust_forwarded_proto,
      },
      tlsCertFile: http.tls_cert_file,
      tlsKeyFile: http.tls_key_file,
      ...(http.redact !== undefined && { redact: http.redact }),
    },
    audit: {
      log: audit.log,
      file: audit.file && {
        path: audit.file.path,
        maxBytes: audit.file.max_bytes,
        keep: audit.file.keep,
        // An empty one is none, as with API keys.
        hmacKey: audit.file.hmac_key || undefined,
      },
    },
    telemetry: { otlp: otlp && otlpOf(otlp) },
  };
}

function otlpOf(otlp: NonNullable<ConfigDocument["telemetry"]["otlp"]>): OtlpSection {
  const { endpoint, headers, timeout, compression, ca_file: caFile, metrics, traces } = otlp;
  return {
    endpoint,
    headers,
    timeoutMs: timeout,
    compression,
    caFile,
    serviceName: otlp.service_name,
    resourceAttributes: otlp.resource_attributes,
    metrics: { enabled: metrics.enabled, intervalMs: metrics.interval, temporality: metrics.temporality },
    traces: { enabled: traces.enabled, sampleRatio: traces.sample_ratio, maxQueue: traces.max_queue },
  };
}

function storesOf({ stores }: ConfigDocument, options: PluginOptions, registry: Registry): StoresSection {
  const storeOf = (role: StoreRole): { readonly [key in StoreRole]?: StoreConfig } => {
    const store = stores[role];
    const plugin = store?.type === undefined ? undefined : registry.stores[role].get(store.type);
    if (plugin === undefined) return {};
    const { type, reach } = plugin;
    const own = options.at(["stores", role, "options"]);
    const place = plugin.place?.(own);
    return { [role]: { type, options: own, reach, ...(place !== undefined && { place }) } };
  };
  return { ...storeOf("dlq"), ...storeOf("outbox"), ...storeOf("lease") };
}

function abandoned({ stores }: ConfigDocument): Pick<BridgeConfig, "abandonBacklog"> {
  const roles = (["outbox", "dlq"] as const).filter((role) => stores[role]?.abandon_backlog === true);
  return roles.length === 0 ? {} : { abandonBacklog: roles };
}

function bindingOf(binding: Element<"bindings">, sessionId: string | undefined): BindingConfig {
  return {
    id: binding.id,
    senderId: binding.sender_id,
    sessionId,
    managed: binding.session_id !== undefined,
    address: binding.address,
  };
}

/** Which sessions parts of a document use. */
class UsedSessions {
  readonly #receivers: ReadonlyMap<string, string | undefined>;
  readonly #senders: ReadonlyMap<string, string | undefined>;
  readonly #bindings: ReadonlyMap<string, Element<"bindings">>;

  constructor({ receivers, senders, bindings }: ConfigDocument) {
    this.#receivers = new Map(receivers.map(({ id, session_id: session }) => [id, session]));
    this.#senders = new Map(senders.map(({ id, session_id: session }) => [id, session]));
    this.#bindings = new Map(bindings.map((binding) => [binding.id, binding]));
  }

  ofBinding(binding: Element<"bindings">): string | undefined {
    return binding.session_id ?? this.#senders.get(binding.sender_id);
  }

  ofRoute({ receiver_id: receiver, bindings }: Element<"routes">): readonly (string | undefined)[] {
    const targets = bindings.map((id) => this.#bindings.get(id));
    return [this.#receivers.get(receiver), ...targets.map((binding) => binding && this.ofBinding(binding))];
  }
}

/** Over an exclusive session a send has to end while its lease lasts, with room for renewals that come late. */
function defaultSendTimeoutMs(
  { sessions, bridge }: ConfigDocument,
  used: readonly (string | undefined)[],
  { policy: { send_timeout: usual } }: Element<"routes">,
): number {
  const exclusive = sessions.some(({ id, session_mode: mode }) => mode === "exclusive" && used.includes(id));
  return exclusive ? Math.min(usual, bridge.lease_ttl / 2) : usual;
}

function routeOf(route: Element<"routes">, sendTimeoutMs: number): RouteConfig {
  return {
    id: route.id,
    receiverId: route.receiver_id,
    deliveryMode: route.delivery_mode,
    dispatchMode: route.dispatch_mode,
    processors: route.processors,
    resolver: resolverOf(route),
    bindings: route.bindings,
    policy: policyOf(route.policy, sendTimeoutMs),
    rateLimit: rateLimitOf(route.rate_limit),
  };
}

function resolverOf({ resolver, dispatch_mode: mode, bindings }: Element<"routes">): ResolverConfig {
  switch (resolver?.type) {
    case undefined:
      return mode === "fan_out" ? { type: "all" } : { type: "static", bindings: bindings.slice(0, 1) };
    case "all":
      return { type: "all" };
    case "static":
      return { type: "static", bindings: resolver.binding };
    case "rules":
      return {
        type: "rules",
        rules: resolver.rules.map((rule) => ({ when: rule.when, bindings: rule.binding })),
        defaultBindings: resolver.default_binding ?? [],
      };
    case "header_map":
      return {
        type: "header_map",
        header: resolver.header,
        map: new Map(Object.entries(resolver.map)),
        defaultBindings: resolver.default_binding ?? [],
      };
  }
}

function rateLimitOf(limit: Element<"routes">["rate_limit"]): RateLimit | undefined {
  if (limit === undefined) return undefined;
  const messagesPerSecond = limit.messages_per_second;
  return { messagesPerSecond, burst: limit.burst ?? Math.max(1, Math.ceil(messagesPerSecond)) };
}

function policyOf(policy: Element<"routes">["policy"], sendTimeoutMs: number): RoutePolicy {
  return {
    maxInFlight: policy.max_in_flight,
    maxReplayAttempts: policy.max_replay_attempts,
    replayBudgetMs: policy.replay_budget,
    sendTimeoutMs,
    maxOutboxDepth: policy.max_outbox_depth,
    ackAfter: policy.ack_after,
    onPermanentFailure: policy.on_permanent_failure,
    onExpired: policy.on_expired,
    onFiltered: policy.on_filtered,
    allowUnfenced: policy.allow_unfenced,
    backoff: {
      initialIntervalMs: policy.backoff.initial_interval,
      maxIntervalMs: policy.backoff.max_interval,
      multiplier: policy.backoff.multiplier,
      jitter: policy.backoff.jitter,
    },
  };
}
