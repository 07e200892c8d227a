import { openMemoryDlq } from "@bridge/dlq-memory";
import { type Random, silentLogger } from "@bridge/ports";
import { Accounts } from "../../src/accounting/accounts.ts";
import { Controls } from "../../src/control/controls.ts";
import { Recent } from "../../src/recent/recent.ts";
import { DueLooks } from "../../src/route/due-looks.ts";
import { Taps } from "../../src/tap/taps.ts";
import { build } from "../../src/runtime/build.ts";
import { Runtime } from "../../src/runtime/runtime.ts";
import { type MemoryBridge, memoryBridge, type MemoryBridgeOptions } from "./memory-bridge.ts";
import { noHooks } from "./no-hooks.ts";

const evenRandom: Random = { next: () => 0.5, id: () => "id" };

/** A runtime of what a memory bridge is configured with; that bridge itself is never started. */
export function runtimeOf(
  options: MemoryBridgeOptions = {},
  random: Random = evenRandom,
): { readonly bridge: MemoryBridge; readonly runtime: Runtime } {
  const bridge = memoryBridge(options);
  const dlq = openMemoryDlq({ maxEntries: 10 });
  const seams = { clock: bridge.clock, random, logger: silentLogger };
  const budgets = () => bridge.config.bridge;
  const parts = build({
    ...seams,
    config: bridge.config,
    instanceId: "plant-a",
    registry: bridge.registry,
    accounts: new Accounts(),
    controls: new Controls(bridge.clock),
    taps: new Taps(bridge.clock),
    recent: new Recent(bridge.clock),
    looks: new DueLooks(bridge.clock),
    hooks: noHooks,
    dlq: () => dlq,
    outbox: () => undefined,
    budgets,
  });
  return { bridge, runtime: new Runtime({ ...seams, parts, budgets, keepLease: async () => {}, leaseLost: () => {} }) };
}
