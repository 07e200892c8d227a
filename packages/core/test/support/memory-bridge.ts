import { PATIENCE } from "@bridge/tooling/patience";
import {
  type BridgeConfig,
  type DeliveryMode,
  type DispatchMode,
  type ResolverConfig,
  type RoutePolicy,
  createRegistry,
  type Registry,
} from "@bridge/config";
import { memoryDlq, openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryOutbox } from "@bridge/memory";
import {
  BridgeError,
  type DlqStore,
  type DlqStorePlugin,
  type LeaseStore,
  type Logger,
  type OutboxStore,
  type OutboxStorePlugin,
  type Processor,
  type ProcessorPlugin,
  type SessionMode,
  systemRandom,
  type Tracer,
  type TransportPlugin,
} from "@bridge/ports";
import { memoryHub, type MemoryHub, memory } from "@bridge/transport-memory";
import type { BridgeHooks } from "../../src/hooks/bridge-hooks.ts";
import { createSupervisor, type SupervisorOptions } from "../../src/supervisor/create-supervisor.ts";
import type { Supervisor } from "../../src/supervisor/contract.ts";
import { FakeClock } from "./fake-clock.ts";
import { policyOf } from "./policy.ts";

export interface MemoryBridgeOptions {
  readonly policy?: Partial<RoutePolicy>;
  readonly dispatchMode?: DispatchMode;
  /** Default `direct_hold`. With `shared_outbox` there is an outbox in memory. */
  readonly deliveryMode?: DeliveryMode;
  /** Stands in for the memory outbox. */
  readonly outbox?: OutboxStore | ((signal: AbortSignal) => Promise<OutboxStore>);
  /** Each binding's address is the channel of its name. Default: `out`. */
  readonly bindings?: readonly string[];
  readonly resolver?: ResolverConfig;
  readonly counts?: boolean;
  readonly releasable?: boolean;
  /** Names a session for the receiver and the sender. */
  readonly session?: boolean;
  readonly sessionMode?: SessionMode;
  readonly processors?: readonly Processor[];
  /** Shared with another bridge. Default: its own. */
  readonly hub?: MemoryHub;
  /** Shared with another bridge. Default: its own. */
  readonly clock?: FakeClock;
  readonly logger?: Logger;
  /** With it the session is exclusive, under a lease of this store. */
  readonly leases?: () => LeaseStore;
  /** Default `plant-a`. */
  readonly instanceId?: string;
  /** Stands in for the memory DLQ. */
  readonly dlq?: DlqStore | (() => Promise<DlqStore>);
  readonly drainTimeoutMs?: number;
  readonly quiesceTimeoutMs?: number;
  readonly onConfig?: (config: BridgeConfig) => void;
  readonly tracer?: Tracer;
  readonly hooks?: BridgeHooks;
  readonly onJob?: SupervisorOptions["onJob"];
  readonly departures?: SupervisorOptions["departures"];
  /** Without routes and sessions. */
  readonly empty?: boolean;
  readonly config?: (config: BridgeConfig) => BridgeConfig;
  /** Adds transports to the memory one, given with its parts. */
  readonly transports?: (memory: MemoryTransport) => readonly TransportPlugin[];
}

type MemoryTransport = TransportPlugin & { readonly sender: NonNullable<TransportPlugin["sender"]> };

export interface MemoryBridge {
  readonly hub: MemoryHub;
  readonly clock: FakeClock;
  readonly supervisor: Supervisor;
  readonly registry: Registry;
  readonly config: BridgeConfig;
  readonly dlq: DlqStore;
  readonly outbox: OutboxStore;
}

/** One route `r` from channel `in` to the channels of its bindings, on time that only the test lets pass. */
export function memoryBridge(options: MemoryBridgeOptions = {}): MemoryBridge {
  const hub = options.hub ?? memoryHub();
  const clock = options.clock ?? new FakeClock();
  let store: DlqStore | undefined;
  const open = async (): Promise<DlqStore> => {
    store =
      typeof options.dlq === "function" ? await options.dlq() : (options.dlq ?? openMemoryDlq({ maxEntries: 1_000 }));
    return store;
  };
  const dlqPlugin: DlqStorePlugin = {
    type: "test",
    reach: "process",
    options: memoryDlq.options,
    create: () => open,
  };
  let outbox = typeof options.outbox === "function" ? undefined : options.outbox;
  const openOutbox = async (signal: AbortSignal): Promise<OutboxStore> => {
    if (typeof options.outbox === "function") outbox = await options.outbox(signal);
    return (outbox ??= openMemoryOutbox({ maxRecords: 10_000, retentionMs: 3_600_000, clock, random: systemRandom() }));
  };
  const outboxPlugin: OutboxStorePlugin = { ...dlqPlugin, create: () => openOutbox };
  const { leases, processors = [] } = options;
  const processorPlugins: ProcessorPlugin[] = processors.map((processor, index) => ({
    type: `p${index}`,
    options: memoryDlq.options,
    create: () => processor,
  }));
  const channels = memory(hub).plugin() as MemoryTransport;
  const registry = createRegistry({
    transports: [channels, ...(options.transports?.(channels) ?? [])],
    dlqStores: [dlqPlugin],
    outboxStores: [outboxPlugin],
    leaseStores: leases === undefined ? [] : [{ ...dlqPlugin, create: () => async () => leases() }],
    processors: processorPlugins,
  });
  const plain = configOf(options);
  const config = options.config?.(plain) ?? plain;
  const supervisor = createSupervisor({
    config,
    registry,
    clock,
    random: { next: () => 0.5, id: () => `generated-${generated++}` },
    ...(options.logger !== undefined && { logger: options.logger }),
    tracer: options.tracer,
    hooks: options.hooks,
    onJob: options.onJob,
    departures: options.departures,
    ...(options.onConfig !== undefined && { onConfig: options.onConfig }),
  });
  return {
    hub,
    clock,
    supervisor,
    registry,
    config,
    get outbox() {
      if (outbox === undefined) throw new Error("the outbox store has not been opened");
      return outbox;
    },
    get dlq() {
      if (store === undefined) throw new Error("the DLQ store has not been opened");
      return store;
    },
  };
}

/** One count for all bridges: two of them on one store must not make the same id. */
let generated = 0;

function configOf(options: MemoryBridgeOptions): BridgeConfig {
  const sessionId = options.session === true ? "s" : undefined;
  const sessionMode = options.sessionMode ?? (options.leases === undefined ? "persistent" : "exclusive");
  const bindings = options.bindings ?? ["out"];
  const dispatchMode = options.dispatchMode ?? "single";
  const fallback: ResolverConfig =
    dispatchMode === "fan_out" ? { type: "all" } : { type: "static", bindings: bindings.slice(0, 1) };
  return {
    configVersion: 3,
    bridge: {
      id: "plant",
      instanceId: options.instanceId ?? "plant-a",
      deploymentMode: "standalone",
      logLevel: "info",
      terminalLingerMs: 0,
      leaseTtlMs: 20_000,
      leasePollIntervalMs: 2_000,
      recentLegs: 1_000,
      shutdownTimeoutMs: 30_000,
      drainTimeoutMs: options.drainTimeoutMs ?? 1_000,
      perRecordDrainTimeoutMs: 3_000,
      maxDrainTimeoutMs: 10_000,
      quiesceTimeoutMs: options.quiesceTimeoutMs ?? 100,
    },
    configWatch: { mode: "notify", pollIntervalMs: 30_000, debounceMs: 100 },
    http: undefined,
    audit: { log: true, file: undefined },
    telemetry: { otlp: undefined },
    stores: {
      dlq: { type: "test", reach: "process", options: {} },
      ...(options.deliveryMode === "shared_outbox" && { outbox: { type: "test", reach: "process", options: {} } }),
      ...(options.leases !== undefined && { lease: { type: "test", reach: "process", options: {} } }),
    },
    sessions:
      sessionId === undefined || options.empty === true
        ? []
        : [{ id: sessionId, transport: "memory", sessionMode, options: {} }],
    receivers: [
      {
        id: "in",
        transport: "memory",
        sessionId,
        topics: [],
        options: {
          channel: "in",
          redelivery_delay: 0,
          counts: options.counts ?? false,
          releasable: options.releasable ?? false,
        },
      },
    ],
    senders: [{ id: "out", transport: "memory", sessionId, options: { channel: "", discard: false } }],
    bindings: bindings.map((id) => ({ id, senderId: "out", sessionId, managed: true, address: id })),
    processors: (options.processors ?? []).map((_, index) => ({ id: `p${index}`, type: `p${index}`, options: {} })),
    routes:
      options.empty === true
        ? []
        : [
            {
              id: "r",
              receiverId: "in",
              deliveryMode: options.deliveryMode ?? "direct_hold",
              dispatchMode,
              processors: (options.processors ?? []).map((_, index) => `p${index}`),
              resolver: options.resolver ?? fallback,
              bindings,
              policy: policyOf(options.policy),
            },
          ],
  };
}

/** A signal that keeps a broken test from hanging. */
export function bound(): AbortSignal {
  return AbortSignal.timeout(PATIENCE.timeout);
}

export const refusal = new BridgeError("REJECTED", "the target refused the message");
export const outage = new BridgeError("UNAVAILABLE", "the target is away");
