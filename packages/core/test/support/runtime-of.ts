import type { Random } from "@bridge/ports";
import { Runtime } from "../../src/runtime/runtime.ts";
import type { MemoryBridge, MemoryBridgeOptions } from "./memory-bridge.ts";
import { partsOf } from "./parts-of.ts";

/** A runtime of what a memory bridge is configured with; that bridge itself is never started. */
export function runtimeOf(
  options: MemoryBridgeOptions = {},
  random?: Random,
): { readonly bridge: MemoryBridge; readonly runtime: Runtime } {
  const { bridge, built, parts } = partsOf(options, random);
  const { clock, logger, budgets } = built;
  const seams = { clock, logger, random: built.random };
  return { bridge, runtime: new Runtime({ ...seams, parts, budgets, keepLease: async () => {}, leaseLost: () => {} }) };
}
