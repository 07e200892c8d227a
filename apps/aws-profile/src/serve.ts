import type { Registry } from "@bridge/config";
import {
  type Companion,
  type Ending,
  type HostProcess,
  type Measurable,
  serveBridge,
  type Surroundings,
} from "@bridge/host";
import { openSecretReader } from "@bridge/secrets-aws";
import { EmfExporter } from "@bridge/telemetry";
import type { Bootstrap } from "./bootstrap/bootstrap.ts";
import { loadBootstrap } from "./bootstrap/load-bootstrap.ts";
import { overruledBy } from "./bootstrap/overrule.ts";
import { telemetry } from "./compose.ts";
import { configOrigin } from "./config-origin.ts";
import { readKeys } from "./keys/read-keys.ts";
import { RefreshedKeys } from "./keys/refreshed-keys.ts";

/** Runs an instance until something ends it; its whole shutdown has one budget (spec 3.3). Never rejects. */
export async function serve(registry: Registry, host: HostProcess, version: string): Promise<Ending> {
  using secrets = openSecretReader();
  const prepare = async (surroundings: Surroundings) => {
    const { logger, clock, random } = surroundings;
    const loaded = await loadBootstrap(host.env);
    if (!loaded.ok) {
      for (const problem of loaded.problems) logger.error("bootstrap document refused", { problem });
      throw new Error("there is no usable bootstrap document");
    }
    const { bootstrap } = loaded;
    const { pollIntervalMs, adminKeyParam, monitorKeyParam } = bootstrap;
    const read = (signal: AbortSignal) => readKeys(bootstrap, secrets, host.env, signal);
    const refreshed = await RefreshedKeys.open({ read, pollIntervalMs, clock, random, logger });
    const changes = adminKeyParam !== undefined || monitorKeyParam !== undefined;
    return {
      origin: await configOrigin(bootstrap, secrets, host.env, surroundings),
      overrule: overruledBy(bootstrap),
      keys: () => refreshed.keys,
      keyRefresh: () => (changes ? refreshed.facts() : undefined),
      companions: (measurable: Measurable): readonly Companion[] => [
        ...(changes ? [refreshed] : []),
        ...exporters(bootstrap, measurable, host),
      ],
    };
  };
  return await serveBridge({ registry, host, startEmpty: true, budgets: "one", telemetry, version, prepare });
}

function exporters({ metrics, bridgeId }: Bootstrap, measurable: Measurable, host: HostProcess): readonly Companion[] {
  if (metrics === undefined) return [];
  const { namespace, intervalMs } = metrics;
  const { instanceId, readMetrics: read, clock, logger } = measurable;
  const write = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      host.stdout.write(text, (error) => (error ? reject(error) : resolve()));
    });
  const frame = { namespace, dimensions: { BridgeId: bridgeId }, properties: { InstanceId: instanceId } };
  return [new EmfExporter({ ...frame, read, write, intervalMs, clock, logger })];
}
