import type { Overrule } from "@bridge/host";
import type { Bootstrap } from "./bootstrap.ts";

/**
 * A configuration as this instance runs it. Who it is and where it listens is said by its bootstrap document: the
 * configuration may be that of several instances, and the ports and keys are those of the place where each runs.
 */
export function overruledBy({ bridgeId, instanceId, listeners }: Bootstrap): Overrule {
  return (config) => {
    const { bridge, http } = config;
    const warnings: string[] = [];
    if (bridge.id !== bridgeId)
      warnings.push(
        `bridge.id: is "${bridge.id}" here; this process is of the bridge "${bridgeId}", as its bootstrap document says`,
      );
    if (instanceId !== undefined && bridge.instanceId !== undefined && bridge.instanceId !== instanceId)
      warnings.push(
        `bridge.instance_id: is "${bridge.instanceId}" here; this process is "${instanceId}", as its bootstrap document says`,
      );
    if (http !== undefined)
      warnings.push(
        "http: means nothing here: the bootstrap document says where the servers listen and which keys open them",
      );
    return {
      config: {
        ...config,
        bridge: { ...bridge, id: bridgeId, instanceId: instanceId ?? bridge.instanceId },
        http: { ...listeners, adminApiKey: "", monitorApiKey: "", apiKeys: [] },
      },
      warnings,
    };
  };
}
