import { type AuditEvent, createAuditor } from "@bridge/audit";
import { createRegistry, parseConfig } from "@bridge/config";
import { type BridgeView, createSupervisor, type Supervisor } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { listen } from "@bridge/http-kit";
import { type Receiver, silentLogger, systemClock, systemRandom, type TransportPlugin } from "@bridge/ports";
import { type MemoryHub, memoryHub, memory } from "@bridge/transport-memory";
import { createMonitorApp, type MonitorAppOptions } from "../src/index.ts";

export const MONITOR_KEY = "monitor-key-0123456789";
export const ADMIN_KEY = "admin-key-0123456789";

/** Ways to break a bridge that its configuration does not offer. */
interface Faults {
  /** Thrown by receivers that are closed. */
  close?: Error | undefined;
}

export interface Bridge {
  readonly hub: MemoryHub;
  readonly faults: Faults;
  readonly supervisor: Supervisor;
}

const policy = { max_in_flight: 7, max_replay_attempts: 3, on_expired: "drop", backoff: { initial_interval: "1ms" } };

/** One route over a session, from channel `in` to channel `out`; or, with `document`, whatever it says. */
export function makeBridge(document?: object): Bridge {
  const hub = memoryHub();
  const faults: Faults = {};
  const registry = createRegistry({
    transports: [breakable(memory(hub).plugin(), faults)],
    dlqStores: [memoryDlq],
  });
  const config = parseConfig(
    {
      config_version: 4,
      bridge: { id: "plant-7", instance_id: "plant-7-a", quiesce_timeout: "1s" },
      ...(document ?? {
        stores: { dlq: { type: "memory", options: { acknowledge_volatile: true } } },
        sessions: [{ id: "broker", transport: "memory", session_mode: "persistent" }],
        receivers: [{ id: "in", session_id: "broker", options: { channel: "in" } }],
        senders: [{ id: "out", transport: "memory", options: { channel: "out" } }],
        bindings: [{ id: "to-out", sender_id: "out" }],
        routes: [{ id: "alarms", receiver_id: "in", bindings: ["to-out"], policy }],
      }),
    },
    registry,
  );
  return { hub, faults, supervisor: createSupervisor({ config, registry }) };
}

function breakable(plugin: TransportPlugin, faults: Faults): TransportPlugin {
  const { receiver } = plugin;
  if (receiver === undefined) return plugin;
  const create = (options: unknown, context: Parameters<typeof receiver.create>[1]): Receiver => {
    const part = receiver.create(options, context);
    return {
      async *receive(signal) {
        yield* part.receive(signal);
      },
      async [Symbol.asyncDispose]() {
        await part[Symbol.asyncDispose]();
        if (faults.close !== undefined) throw faults.close;
      },
    };
  };
  return { ...plugin, receiver: { ...receiver, create } };
}

/** The same bridge, seen differently: for what needs parts that do not exist yet, such as leases. */
export function seenAs(supervisor: Supervisor, changes: Partial<BridgeView>): Supervisor {
  return new Proxy(supervisor, {
    get(target, name) {
      if (name === "view") return () => ({ ...target.view(), ...changes });
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

export interface Monitor extends AsyncDisposable {
  readonly url: string;
  readonly events: readonly AuditEvent[];
  /** Without a key, unless one is given. */
  get(path: string, key?: string, init?: RequestInit): Promise<Response>;
}

/** The monitor server of a bridge on a free port; disposing it ends the bridge too. */
export async function startMonitor(
  supervisor: Supervisor | undefined,
  options: Partial<MonitorAppOptions> = {},
): Promise<Monitor> {
  const events: AuditEvent[] = [];
  const auditor = createAuditor({
    clock: systemClock,
    logger: silentLogger,
    sinks: [{ name: "list", write: (event) => void events.push(event) }],
  });
  const app = createMonitorApp({
    supervisor: () => supervisor,
    keys: { monitorApiKey: MONITOR_KEY, adminApiKey: ADMIN_KEY },
    auditor,
    ...options,
  });
  const listener = await listen(
    { addr: "127.0.0.1:0", app, logger: silentLogger, random: systemRandom() },
    AbortSignal.timeout(10_000),
  );
  return {
    url: listener.url,
    events,
    get: (path, key, init) =>
      fetch(`${listener.url}/api/v1/${path}`, { ...(key !== undefined && { headers: { "X-API-Key": key } }), ...init }),
    [Symbol.asyncDispose]: async () => {
      await listener[Symbol.asyncDispose]();
      await auditor[Symbol.asyncDispose]();
      await supervisor?.shutdown().catch(() => {});
    },
  };
}

/** Status and body. */
export async function answer(response: Promise<Response>): Promise<[number, unknown]> {
  const { status, json } = await response.then((value) => ({ status: value.status, json: value.json() }));
  return [status, await json];
}
