import type { BridgeConfig, StoreRole } from "@bridge/config";

/** Gives a store another place. */
export const movedTo =
  (role: StoreRole, place: string) =>
  (config: BridgeConfig): BridgeConfig => ({
    ...config,
    stores: { ...config.stores, [role]: { type: "test", reach: "process", options: { place } } },
  });

/** Takes a store away. */
export const without =
  (role: StoreRole) =>
  (config: BridgeConfig): BridgeConfig => ({ ...config, stores: { ...config.stores, [role]: undefined } });
