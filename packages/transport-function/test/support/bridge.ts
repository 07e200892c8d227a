import { createRegistry, parseConfig } from "@bridge/config";
import { createSupervisor, type Supervisor } from "@bridge/core";
import { memoryDlq } from "@bridge/dlq-memory";
import { memoryOutbox } from "@bridge/memory";
import type { DeadLetter, Logger } from "@bridge/ports";
import { type MemoryHub, memoryHub, memory } from "@bridge/transport-memory";
import { type Functions, functionTransport } from "../../src/index.ts";
import { never } from "./parts.ts";

export interface BridgeOptions extends Functions {
  readonly policy?: Readonly<Record<string, unknown>>;
  readonly delivery?: "direct_hold" | "shared_outbox";
  readonly logger?: Logger;
  /** Of `bridge`. */
  readonly budgets?: Readonly<Record<string, string>>;
}

export interface TestBridge extends AsyncDisposable {
  readonly supervisor: Supervisor;
  readonly hub: MemoryHub;
  /** Puts another policy into force. */
  reload(policy: Readonly<Record<string, unknown>>): Promise<void>;
  deadLetters(): Promise<readonly DeadLetter[]>;
}

/** Quick retries, so that a test need not wait for them. */
export const QUICK = {
  max_replay_attempts: 2,
  backoff: { initial_interval: "1ms", max_interval: "1ms", multiplier: 1, jitter: 0 },
} as const;

/**
 * One route `r`: from the source `in`, if there is one, else from the channel `in`; to the handler `out`, if there is one, else
 * to the channel `out`. It is running.
 */
export async function bridge(options: BridgeOptions): Promise<TestBridge> {
  const hub = memoryHub();
  const registry = createRegistry({
    transports: [functionTransport(options), memory(hub)],
    dlqStores: [memoryDlq],
    outboxStores: [memoryOutbox],
  });
  const volatile = { type: "memory", options: { acknowledge_volatile: true } };
  const configOf = (policy: Readonly<Record<string, unknown>> = {}) =>
    parseConfig(
      {
        bridge: { id: "test", ...options.budgets },
        stores: { dlq: volatile, ...(options.delivery === "shared_outbox" && { outbox: volatile }) },
        receivers: [
          options.sources?.["in"] === undefined
            ? { id: "in", transport: "memory", options: { channel: "in", counts: false } }
            : { id: "in", transport: "function", options: { source: "in" } },
        ],
        senders: [
          options.handlers?.["out"] === undefined
            ? { id: "out", transport: "memory", options: { channel: "out" } }
            : { id: "out", transport: "function", options: { handler: "out" } },
        ],
        bindings: [{ id: "to-out", sender_id: "out" }],
        routes: [
          {
            id: "r",
            receiver_id: "in",
            bindings: ["to-out"],
            delivery_mode: options.delivery ?? "direct_hold",
            policy,
          },
        ],
      },
      registry,
    );
  const supervisor = createSupervisor({
    config: configOf(options.policy),
    registry,
    ...(options.logger !== undefined && { logger: options.logger }),
  });
  await supervisor.start(never);
  return {
    supervisor,
    hub,
    reload: async (policy) => void (await supervisor.apply(configOf(policy), never)),
    deadLetters: async () => {
      const heads = await supervisor.dlq()!.list({}, { limit: 1_000, offset: 0 }, never);
      const entries = await Promise.all(heads.map(({ id }) => supervisor.dlq()!.get(id, never)));
      return entries.filter((entry) => entry !== undefined);
    },
    [Symbol.asyncDispose]: () => supervisor.shutdown(),
  };
}

/** How many messages have come to an end, and how. */
export function ends({ supervisor }: TestBridge): Readonly<Record<string, number>> {
  return supervisor.stats().legs.find(({ bindingId }) => bindingId === "to-out")!.dispositions;
}
