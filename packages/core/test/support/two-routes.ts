import type { BridgeConfig, RouteConfig } from "@bridge/config";
import { type MemoryBridge, memoryBridge, type MemoryBridgeOptions } from "./memory-bridge.ts";

/**
 * Two routes, each with a receiver, a sender and a binding of its own: `r` from `in` to `out`, `q` from `in2` to `out2`.
 * With `session` both use the session `s`.
 */
export function twoRoutes(options: MemoryBridgeOptions = {}): MemoryBridge {
  return memoryBridge({ ...options, config: (config) => withSecond(options.config?.(config) ?? config) });
}

/** Adds the route `q`. */
function withSecond(config: BridgeConfig): BridgeConfig {
  const [receiver, sender, binding, route] = [
    config.receivers[0],
    config.senders[0],
    config.bindings[0],
    config.routes[0],
  ];
  if (receiver === undefined || sender === undefined || binding === undefined || route === undefined) return config;
  const options = { ...(receiver.options as object), channel: "in2" };
  const resolver = { type: "static", bindings: ["out2"] } as const;
  return {
    ...config,
    receivers: [receiver, { ...receiver, id: "in2", options }],
    senders: [sender, { ...sender, id: "out2" }],
    bindings: [...config.bindings, { ...binding, id: "out2", senderId: "out2", address: "out2" }],
    routes: [route, { ...route, id: "q", receiverId: "in2", bindings: ["out2"], resolver }],
  };
}

/** With one route changed. */
export function withRoute(config: BridgeConfig, id: string, change: (route: RouteConfig) => RouteConfig): BridgeConfig {
  return { ...config, routes: config.routes.map((route) => (route.id === id ? change(route) : route)) };
}

/** With other attempts for one route: a change of that route alone. */
export function withAttempts(config: BridgeConfig, id: string, maxReplayAttempts: number): BridgeConfig {
  return withRoute(config, id, (route) => ({ ...route, policy: { ...route.policy, maxReplayAttempts } }));
}

/** With another window for one route. */
export function withWindow(config: BridgeConfig, id: string, maxInFlight: number): BridgeConfig {
  return withRoute(config, id, (route) => ({ ...route, policy: { ...route.policy, maxInFlight } }));
}
