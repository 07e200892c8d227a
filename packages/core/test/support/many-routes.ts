import type { BridgeConfig } from "@bridge/config";
import { type MemoryBridge, memoryBridge, type MemoryBridgeOptions } from "./memory-bridge.ts";

/**
 * So many routes on the session `s`, each with a receiver, a sender and a binding of its own: `r0` from `in0` to `out0`,
 * and so on. A new window of one of them replaces the session's source half, and so all of them.
 */
export function manyRoutes(count: number, options: MemoryBridgeOptions = {}): MemoryBridge {
  return memoryBridge({
    ...options,
    session: true,
    config: (config) => multiplied(options.config?.(config) ?? config, count),
  });
}

function multiplied(config: BridgeConfig, count: number): BridgeConfig {
  const all = Array.from({ length: count }, (_, index) => index);
  const each = <Part>([part]: readonly Part[], change: (part: Part, index: number) => Part): Part[] => {
    if (part === undefined) throw new Error("nothing to begin with");
    return all.map((index) => change(part, index));
  };
  return {
    ...config,
    receivers: each(config.receivers, (part, index) => ({
      ...part,
      id: `in${index}`,
      options: { ...(part.options as object), channel: `in${index}` },
    })),
    senders: each(config.senders, (part, index) => ({ ...part, id: `out${index}` })),
    bindings: each(config.bindings, (part, index) => ({
      ...part,
      id: `out${index}`,
      senderId: `out${index}`,
      address: `out${index}`,
    })),
    routes: each(config.routes, (route, index) => ({
      ...route,
      id: `r${index}`,
      receiverId: `in${index}`,
      bindings: [`out${index}`],
      resolver: { type: "static", bindings: [`out${index}`] },
    })),
  };
}
