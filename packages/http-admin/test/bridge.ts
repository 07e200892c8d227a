import { type BridgeDocument, createRegistry, parseConfig, type Registry } from "@bridge/config";
import { createSupervisor, type Supervisor } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import {
  type Clock,
  type DeadLetter,
  defineFactory,
  type DlqStore,
  type DlqStorePlugin,
  type Logger,
  type PluginContext,
  type Processor,
  type ProcessorPlugin,
  type Receiver,
  silentLogger,
  systemClock,
  type TransportPlugin,
} from "@bridge/ports";
import { memoryOutbox } from "@bridge/memory";
import { type MemoryHub, memoryHub, memory } from "@bridge/transport-memory";
import * as v from "valibot";

/** Ways to break a bridge that its configuration does not offer. */
interface Faults {
  /** Thrown by receivers that are closed. */
  close?: Error | undefined;
  /** Called before the DLQ store does what it is asked for. */
  store?: ((method: string, signal: AbortSignal) => Promise<void> | void) | undefined;
}

export interface Bridge {
  readonly hub: MemoryHub;
  readonly faults: Faults;
  readonly supervisor: Supervisor;
  readonly registry: Registry;
  /** What the configuration was made of. */
  readonly document: BridgeDocument;
  /** How many receivers have been built, over all runtimes. */
  built(): number;
  /** Whatever the clients of the store see of its entries. */
  ids(): Promise<readonly string[]>;
}

export interface BridgeOptions {
  /** `none`: not configured; `read-only`: without the deleting half. */
  readonly store?: "none" | "read-only";
  /** Adds an outbox and the route `boxed`, which is `shared_outbox`, to channel `boxed-out`. */
  readonly outbox?: boolean;
  /** Of the bridge. Default: the system's. */
  readonly clock?: Clock;
  /** Of the bridge. Default: it logs nothing. */
  readonly logger?: Logger;
}

const patient = { max_replay_attempts: 100, backoff: { initial_interval: "1h", max_interval: "1h", jitter: 0 } };
const policy = { max_replay_attempts: 1, backoff: { initial_interval: "1ms" } };

/**
 * A bridge with a route for each fate: `alarms` to channel `out`, `fan` to `a` and `b`, `dropping`, `filtering` and
 * `expiring` to nowhere. Messages come in through the channel that is named as the route.
 */
export function makeBridge({
  store,
  outbox = false,
  clock = systemClock,
  logger = silentLogger,
}: BridgeOptions = {}): Bridge {
  const hub = memoryHub();
  const faults: Faults = {};
  let built = 0;
  const registry = createRegistry({
    transports: [breakable(memory(hub).plugin(), faults, () => built++)],
    dlqStores: [fragile("memory", true, faults), fragile("read-only", false, faults)],
    outboxStores: [memoryOutbox],
    processors: [fate],
  });
  const failure = store === "none" ? ({ on_permanent_failure: "drop", on_expired: "drop" } as const) : {};
  type Route = NonNullable<BridgeDocument["routes"]>[number];
  const route = (id: string, rest: Partial<Route>): Route => ({
    id,
    receiver_id: id,
    bindings: [id],
    policy: { ...policy, ...failure },
    ...rest,
  });
  const names = ["alarms", "dropping", "filtering", "expiring"];
  const document: BridgeDocument = {
    bridge: { id: "plant-7", instance_id: "plant-7-a", quiesce_timeout: "300ms", drain_timeout: "5s" },
    stores: {
      ...(store !== "none" && { dlq: { type: store ?? "memory", options: { acknowledge_volatile: true } } }),
      ...(outbox && { outbox: { type: "memory", options: { acknowledge_volatile: true } } }),
    },
    receivers: [...names, "fan", ...(outbox ? ["boxed"] : [])].map((id) => ({
      id,
      transport: "memory",
      options: { channel: id },
    })),
    senders: [{ id: "hub", transport: "memory" }],
    bindings: [
      ...names.map((id) => ({ id, sender_id: "hub", address: id === "alarms" ? "out" : "nowhere" })),
      { id: "to-a", sender_id: "hub", address: "a" },
      { id: "to-b", sender_id: "hub", address: "b" },
      ...(outbox ? [{ id: "boxed", sender_id: "hub", address: "boxed-out" }] : []),
    ],
    processors: [
      { id: "filter", type: "fate", options: { kind: "filter" } },
      { id: "expire", type: "fate", options: { kind: "expire" } },
    ],
    routes: [
      route("alarms", {}),
      route("fan", { dispatch_mode: "fan_out", bindings: ["to-a", "to-b"] }),
      ...(outbox ? [route("boxed", { delivery_mode: "shared_outbox", policy: patient })] : []),
      route("dropping", { policy: { ...policy, on_permanent_failure: "drop", on_expired: "drop" } }),
      route("filtering", { processors: ["filter"] }),
      route("expiring", { processors: ["expire"], policy: { ...policy, ...failure, on_expired: "drop" } }),
    ],
  };
  const supervisor = createSupervisor({ config: parseConfig(document, registry), registry, clock, logger });
  return {
    hub,
    faults,
    supervisor,
    registry,
    document,
    built: () => built,
    ids: async () => {
      const page = { limit: 1_000_000, offset: 0 };
      const heads = await supervisor.dlq()?.list({}, page, AbortSignal.timeout(10_000));
      return heads?.map(({ id }) => id) ?? [];
    },
  };
}

/** An entry of route `alarms`, as if its target had refused it. */
export function deadLetter(id: string, changes: Partial<DeadLetter> = {}): DeadLetter {
  const envelope = {
    id: `envelope-${id}`,
    sourceId: "alarms",
    subject: "boiler/7",
    contentType: "text/plain",
    headers: { site: "north", "x-bridge.dedup-id": `dedup-${id}`, "x-bridge.ordering-key": "boiler" },
    payload: Uint8Array.from([0, 255, 10]),
    correlationId: `correlation-${id}`,
    receivedAt: Date.UTC(2026, 0, 1, 11),
  };
  return {
    id,
    routeId: "alarms",
    bindingId: "alarms",
    sourceId: envelope.sourceId,
    correlationId: envelope.correlationId,
    subject: envelope.subject,
    reason: "permanent failure",
    category: "rejected",
    errorCode: "REJECTED",
    lastError: "the target said no",
    failedAt: Date.UTC(2026, 0, 1, 12),
    attempts: 2,
    envelope,
    ...changes,
  };
}

/** Puts entries into the store of a bridge that has been started. */
export async function keep(bridge: Bridge, ...entries: readonly DeadLetter[]): Promise<void> {
  for (const entry of entries) await bridge.supervisor.dlq()?.put(entry, AbortSignal.timeout(10_000));
}

const fate: ProcessorPlugin = {
  type: "fate",
  ...defineFactory({
    options: v.strictObject({ kind: v.picklist(["filter", "expire"]) }),
    create: ({ kind }, { clock }: PluginContext): Processor => ({
      process: (envelope) =>
        kind === "filter"
          ? { kind: "filter", reason: "not an alarm" }
          : { kind: "pass", envelope: { ...envelope, expiresAt: clock.now() - 1 } },
    }),
  }),
};

function breakable(plugin: TransportPlugin, faults: Faults, onBuild: () => void): TransportPlugin {
  const { receiver } = plugin;
  if (receiver === undefined) return plugin;
  const create = (options: unknown, context: Parameters<typeof receiver.create>[1]): Receiver => {
    const part = receiver.create(options, context);
    onBuild();
    return {
      open: async (signal) => part.open?.(signal),
      receive: (signal) => part.receive(signal),
      async [Symbol.asyncDispose]() {
        await part[Symbol.asyncDispose]();
        if (faults.close !== undefined) throw faults.close;
      },
    };
  };
  return { ...plugin, receiver: { ...receiver, create } };
}

function given<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("the memory store cannot do that");
  return value;
}

/** The memory store with switches, with or without the deleting half and what not every store has. */
function fragile(type: string, deletes: boolean, faults: Faults): DlqStorePlugin {
  const pass = async (method: string, signal: AbortSignal): Promise<void> => faults.store?.(method, signal);
  return {
    ...memoryDlq,
    type,
    create: (options, context) => async (opening) => {
      const store = await memoryDlq.create(options, context)(opening);
      const { admin } = store;
      const broken: DlqStore = {
        put: async (entry, signal) => (await pass("put", signal), store.put(entry, signal)),
        get: async (id, signal) => (await pass("get", signal), store.get(id, signal)),
        list: async (filter, page, signal) => (await pass("list", signal), store.list(filter, page, signal)),
        count: async (cap, signal) => (await pass("count", signal), store.count(cap, signal)),
        [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
      };
      if (!deletes || admin === undefined) return broken;
      const { marks, jobs } = store;
      return {
        ...store,
        ...broken,
        page: async (query, page, signal) => (
          await pass("page", signal),
          given(await store.page?.(query, page, signal))
        ),
        facets: async (request, signal) => (await pass("facets", signal), given(await store.facets?.(request, signal))),
        marks: {
          mark: async (changes, signal) => (await pass("mark", signal), given(await marks?.mark(changes, signal))),
        },
        ...(jobs !== undefined && {
          jobs: {
            ...jobs,
            get: async (id, signal) => (await pass("jobs.get", signal), jobs.get(id, signal)),
            list: async (request, signal) => (await pass("jobs.list", signal), jobs.list(request, signal)),
            put: async (job, revision, signal) => (await pass("jobs.put", signal), jobs.put(job, revision, signal)),
          },
        }),
        admin: {
          ...(admin.trash !== undefined && { trash: admin.trash }),
          delete: async (ids, signal) => (await pass("delete", signal), admin.delete(ids, signal)),
          deleteWhere: async (filter, limit, signal) => (
            await pass("deleteWhere", signal),
            admin.deleteWhere(filter, limit, signal)
          ),
        },
      };
    },
  };
}
