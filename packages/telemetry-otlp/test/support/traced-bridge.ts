import { createRegistry, type OtlpSection, parseConfig } from "@bridge/config";
import { createSupervisor, type Supervisor } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { memoryOutbox } from "@bridge/memory";
import { silentLogger, systemClock } from "@bridge/ports";
import { readMetrics } from "@bridge/telemetry";
import { memoryHub, type MemoryHub, memory } from "@bridge/transport-memory";
import type { Environment } from "../../src/index.ts";
import { openOtlp, type OtlpExport } from "../../src/open-otlp.ts";

export interface TracedBridge extends AsyncDisposable {
  readonly hub: MemoryHub;
  readonly supervisor: Supervisor;
  readonly otlp: OtlpExport;
  /** Stops the bridge, then the exports, as a process does. */
  end(): Promise<void>;
}

/** A block of the configuration with nothing in it. */
export const SECTION: OtlpSection = {
  endpoint: undefined,
  headers: {},
  timeoutMs: 5_000,
  compression: undefined,
  caFile: undefined,
  serviceName: undefined,
  resourceAttributes: {},
  metrics: { enabled: true, intervalMs: undefined, temporality: undefined },
  traces: { enabled: true, sampleRatio: undefined, maxQueue: undefined },
};

/** One route from channel `in` to channel `out`, that is exported. */
export async function tracedBridge(
  section: Partial<OtlpSection>,
  { env = {}, route = {} }: { readonly env?: Environment; readonly route?: object } = {},
): Promise<TracedBridge> {
  const hub = memoryHub();
  const registry = createRegistry({
    transports: [memory(hub)],
    dlqStores: [memoryDlq],
    outboxStores: [memoryOutbox],
  });
  const volatile = { type: "memory", options: { acknowledge_volatile: true } };
  const config = parseConfig(
    {
      bridge: { id: "plant", instance_id: "plant-a" },
      stores: { dlq: volatile, outbox: volatile },
      receivers: [{ id: "in", transport: "memory", options: { channel: "in" } }],
      senders: [{ id: "out", transport: "memory" }],
      bindings: [{ id: "to-out", sender_id: "out", address: "out" }],
      routes: [{ id: "r", receiver_id: "in", bindings: ["to-out"], ...route }],
    },
    registry,
  );
  const seams = { clock: systemClock, logger: silentLogger };
  const otlp = openOtlp({
    ...seams,
    section: { ...SECTION, ...section },
    env,
    bridgeId: config.bridge.id,
    instanceId: "plant-a",
    version: "1.2.3",
    readMetrics: () => readMetrics({ supervisor, servers: [], auditFailures: new Map() }, systemClock),
  });
  const supervisor = createSupervisor({ ...seams, config, registry, tracer: otlp.tracer });
  for (const one of otlp.exports) one.start();
  await supervisor.start(bound());
  let ended: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    await supervisor.shutdown();
    await Promise.all(otlp.exports.map((one) => one.stop(bound())));
  };
  const end = (): Promise<void> => (ended ??= stop());
  return { hub, supervisor, otlp, end, [Symbol.asyncDispose]: () => end().catch(() => {}) };
}

/** A signal that keeps a broken test from hanging. */
export function bound(): AbortSignal {
  return AbortSignal.timeout(20_000);
}
