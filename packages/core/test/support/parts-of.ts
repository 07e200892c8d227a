import { openMemoryDlq } from "@bridge/dlq-memory";
import { type Random, silentLogger } from "@bridge/ports";
import { Accounts } from "../../src/accounting/accounts.ts";
import { Controls } from "../../src/control/controls.ts";
import { Hooks } from "../../src/hooks/hooks.ts";
import { Recent } from "../../src/recent/recent.ts";
import { DueLooks } from "../../src/route/due-looks.ts";
import { build, type BuildOptions } from "../../src/runtime/build.ts";
import type { RuntimeParts } from "../../src/runtime/runtime-parts.ts";
import { Taps } from "../../src/tap/taps.ts";
import { type MemoryBridge, memoryBridge, type MemoryBridgeOptions } from "./memory-bridge.ts";

const evenRandom: Random = { next: () => 0.5, id: () => "id" };

/** What a memory bridge is built of; that bridge itself is never started. */
export function partsOf(
  options: MemoryBridgeOptions = {},
  random: Random = evenRandom,
): { readonly bridge: MemoryBridge; readonly built: BuildOptions; readonly parts: RuntimeParts } {
  const bridge = memoryBridge(options);
  const { clock, config } = bridge;
  const logger = options.logger ?? silentLogger;
  const dlq = openMemoryDlq({ maxEntries: 10 });
  const outbox = typeof options.outbox === "function" ? undefined : options.outbox;
  const recent = new Recent(clock);
  recent.legs.size = config.bridge.recentLegs;
  const built: BuildOptions = {
    clock,
    random,
    logger,
    config,
    instanceId: "plant-a",
    registry: bridge.registry,
    accounts: new Accounts(),
    controls: new Controls(clock),
    taps: new Taps(clock),
    recent,
    looks: new DueLooks(clock),
    hooks: new Hooks({ hooks: options.hooks, clock, logger, veil: () => undefined, dlq: () => dlq }),
    tracer: options.tracer,
    dlq: () => dlq,
    outbox: () => outbox,
    budgets: () => config.bridge,
  };
  return { bridge, built, parts: build(built) };
}
