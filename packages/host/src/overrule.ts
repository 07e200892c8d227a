import type { BridgeConfig, ConfigApplier } from "@bridge/config";

/**
 * What a process does not take from its configuration, because its own surroundings say it: the configuration as it is
 * run, and what to tell an operator whose words count for nothing here. Pure, and the same for the same configuration.
 */
export type Overrule = (config: BridgeConfig) => {
  readonly config: BridgeConfig;
  readonly warnings: readonly string[];
};

export const overruledNowhere: Overrule = (config) => ({ config, warnings: [] });

/** For whoever has a configuration that was only validated. */
export function overruling(applier: ConfigApplier, overrule: Overrule): ConfigApplier {
  return {
    apply: (config, signal) => applier.apply(overrule(config).config, signal),
    stranding: (config, signal, stored) =>
      applier.stranding(overrule(config).config, signal, stored && overrule(stored).config),
    announce: async (config) => (await applier.announce?.(overrule(config).config)) ?? (async () => {}),
    beyondRecovery: () => applier.beyondRecovery(),
    ...(applier.trial !== undefined && { trial: applier.trial }),
    plan: (config, signal) => applier.plan(overrule(config).config, signal),
  };
}
