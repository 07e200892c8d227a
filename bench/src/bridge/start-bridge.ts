import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { type BridgeDocument, createRegistry, parseConfig } from "@bridge/config";
import { createSupervisor, type Supervisor } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import type { OutboxStorePlugin, Tracer, TransportMaker, TransportPlugin } from "@bridge/ports";

const START_TIMEOUT_MS = 20_000;

// As the reference binary does, which says why.
setFlagsFromString("--no-allocation-site-pretenuring");

/** The block `stores.outbox` of a document. */
export interface OutboxBlock {
  readonly type: "file" | "postgres";
  readonly options: Readonly<Record<string, unknown>>;
}

/** What of the document a measured bridge says itself; the rest is the same for all of them. */
export interface RouteDocument {
  readonly sessions?: BridgeDocument["sessions"];
  readonly receiver: object;
  readonly sender: object;
  readonly address: string;
  readonly maxInFlight: number;
  /** Without it the route is `direct_hold`. */
  readonly outbox?: OutboxBlock | undefined;
}

/** Runs a bridge of one route, with a dead-letter store and every default of the policy but the window. */
export async function startBridge(
  route: RouteDocument,
  transports: readonly (TransportMaker | TransportPlugin)[],
  tracer?: Tracer,
): Promise<Supervisor> {
  const { outbox } = route;
  const outboxStores = outbox === undefined ? [] : [await outboxPlugin(outbox)];
  const registry = createRegistry({ transports, dlqStores: [memoryDlq], outboxStores });
  const document: BridgeDocument = {
    bridge: { id: "bench" },
    stores: {
      dlq: { type: "memory", options: { acknowledge_volatile: true } },
      ...(outbox !== undefined && { outbox }),
    },
    sessions: route.sessions ?? [],
    receivers: [{ id: "in", ...route.receiver }],
    senders: [{ id: "out", ...route.sender }],
    bindings: [{ id: "to-out", sender_id: "out", address: route.address }],
    routes: [
      {
        id: "route",
        receiver_id: "in",
        bindings: ["to-out"],
        delivery_mode: outbox === undefined ? "direct_hold" : "shared_outbox",
        policy: { max_in_flight: route.maxInFlight },
      },
    ],
  };
  const supervisor = createSupervisor({ config: parseConfig(document, registry), registry, tracer });
  await supervisor.start(AbortSignal.timeout(START_TIMEOUT_MS));
  const end = performance.now() + START_TIMEOUT_MS;
  while (supervisor.view().level !== "full") {
    if (performance.now() > end) throw new Error(`the bridge did not connect within ${START_TIMEOUT_MS} ms`);
    await sleep(20);
  }
  return supervisor;
}

/** Only what is used is loaded, as for a script. */
async function outboxPlugin({ type }: OutboxBlock): Promise<OutboxStorePlugin> {
  return type === "file"
    ? (await import("@bridge/file")).fileOutbox
    : (await import("@bridge/postgres")).postgresOutbox;
}
