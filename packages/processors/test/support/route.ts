import {
  type BridgeDocument,
  createRegistry,
  formatProblem,
  parseConfig,
  type Registry,
  validateConfig,
} from "@bridge/config";
import { createSupervisor, type Supervisor } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { memoryOutbox } from "@bridge/memory";
import type { DeadLetter } from "@bridge/ports";
import { type MemoryHub, memoryHub, memory } from "@bridge/transport-memory";
import { circuitBreaker, filter, schema, transform } from "../../src/index.ts";
import { bound } from "./parts.ts";

export interface RunningRoute extends AsyncDisposable {
  readonly hub: MemoryHub;
  readonly supervisor: Supervisor;
  /** Resolves with the outcomes of the first `count` messages that were settled. */
  settled(count: number): Promise<readonly string[]>;
  deadLetters(): Promise<readonly DeadLetter[]>;
}

export interface RouteOptions {
  readonly policy?: Readonly<Record<string, unknown>>;
  /** Each sends to the channel of its name. Default: `out`. */
  readonly bindings?: readonly string[];
  /** More keys of the route. */
  readonly route?: Readonly<Record<string, unknown>>;
}

interface ProcessorBlock {
  readonly type: string;
  readonly options?: Readonly<Record<string, unknown>>;
}

function registryOf(hub: MemoryHub): Registry {
  return createRegistry({
    transports: [memory(hub)],
    dlqStores: [memoryDlq],
    outboxStores: [memoryOutbox],
    processors: [filter, transform, schema, circuitBreaker],
  });
}

/** A document with one route `r`, from channel `in` through the processors `p0`, `p1` … to the channels of its bindings. */
function documentOf(
  processors: readonly ProcessorBlock[],
  { policy = {}, bindings = ["out"], route = {} }: RouteOptions = {},
): BridgeDocument {
  return {
    bridge: { id: "test" },
    stores: {
      dlq: { type: "memory", options: { acknowledge_volatile: true } },
      outbox: { type: "memory", options: { acknowledge_volatile: true } },
    },
    receivers: [{ id: "in", transport: "memory", options: { channel: "in", counts: false, releasable: false } }],
    senders: [{ id: "out", transport: "memory" }],
    bindings: bindings.map((id) => ({ id, sender_id: "out", address: id })),
    processors: processors.map((processor, index) => ({ id: `p${index}`, ...processor })),
    routes: [
      {
        id: "r",
        receiver_id: "in",
        processors: processors.map((_, index) => `p${index}`),
        bindings,
        policy: { backoff: { initial_interval: "1ms", max_interval: "5ms", multiplier: 1 }, ...policy },
        ...route,
      },
    ],
  };
}

/** What validation says of a processor's options, without the path to them. */
export function problemsOf(type: string, options: Readonly<Record<string, unknown>>): readonly string[] {
  const result = validateConfig(documentOf([{ type, options }]), registryOf(memoryHub()));
  return result.ok ? [] : result.problems.map((problem) => formatProblem({ ...problem, path: problem.path.slice(3) }));
}

/** A running bridge with the route of {@link documentOf}. */
export async function startRoute(
  processors: readonly ProcessorBlock[],
  options: RouteOptions = {},
): Promise<RunningRoute> {
  const hub = memoryHub();
  const registry = registryOf(hub);
  const supervisor = createSupervisor({ config: parseConfig(documentOf(processors, options), registry), registry });
  await supervisor.start(bound());
  return {
    hub,
    supervisor,
    async settled(count) {
      const settlements = await hub.channel("in").waitForSettlements(count, bound());
      return settlements.map(({ settlement }) => (settlement.kind === "accept" ? settlement.outcome : settlement.kind));
    },
    async deadLetters() {
      const store = supervisor.dlq();
      const entries: DeadLetter[] = [];
      for (const { id } of (await store?.list({}, { limit: 100, offset: 0 }, bound())) ?? []) {
        const entry = await store?.get(id, bound());
        if (entry !== undefined) entries.push(entry);
      }
      return entries;
    },
    [Symbol.asyncDispose]: async () => supervisor.shutdown(),
  };
}
