import type { BridgeConfig } from "./model.ts";
import { createRegistry } from "./registry.ts";
import { parseConfig } from "./validate.ts";

/** The configuration of a start without a document: no routes, no sessions, defaults for the rest (spec 1.8). */
export function emptyConfig(id = "bridge"): BridgeConfig {
  return parseConfig({ bridge: { id } }, createRegistry({}));
}
