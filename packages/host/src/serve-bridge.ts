import {
  type BridgeConfig,
  type ConfigTransactions,
  createConfigTransactions,
  emptyConfig,
  type Registry,
} from "@bridge/config";
import { openConfigFile, referenceSources } from "@bridge/config-file";
import { createSupervisor, type Supervisor } from "@bridge/core";
import type { ConfigWatch } from "@bridge/http-monitor";
import { type Logger, systemClock, systemRandom } from "@bridge/ports";
import { type ApiKeys, apiKeys } from "./api-keys.ts";
import { ConfigFollower } from "./config-follower.ts";
import { ConfigSource } from "./config-source.ts";
import { configuration } from "./configuration.ts";
import type { Ending } from "./exit-codes.ts";
import type { Flags } from "./flags.ts";
import type { HostProcess } from "./host-process.ts";
import { openLog } from "./log.ts";
import { messageOf } from "./message-of.ts";
import { openAuditor } from "./open-auditor.ts";
import { openServers, type Servers } from "./open-servers.ts";
import { shutDown, type ShutdownBudgets } from "./shut-down.ts";
import { confirmRunning, tellUnconfirmed } from "./unconfirmed-commit.ts";
import { untilTheEnd } from "./until-the-end.ts";
import { type ProcessWatch, watchProcess } from "./watch-process.ts";

export interface ServeOptions {
  readonly flags: Flags;
  readonly registry: Registry;
  readonly host: HostProcess;
  readonly budgets?: ShutdownBudgets | undefined;
}

/** Runs a bridge until something ends it. Never rejects: what goes wrong is logged. */
export async function serveBridge({ flags, registry, host, budgets }: ServeOptions): Promise<Ending> {
  const logger = openLog(host.stderr, "info");
  using watch = watchProcess(host, () => logger);
  let inForce = emptyConfig();
  const onConfig = (config: BridgeConfig): void => {
    inForce = config;
    logger.setLevel(config.bridge.logLevel);
  };
  try {
    const store = openConfigFile(flags.config, { watch: () => inForce.configWatch, logger });
    const source = new ConfigSource({ store, registry, env: host.env, logger });
    const config = await configuration(source, flags, logger);
    if (config === undefined) return "not_started";
    onConfig(config);
    return await serve({
      source,
      config,
      onConfig,
      keys: apiKeys(config.http, host.env),
      registry,
      host,
      watch,
      budgets,
      logger,
    });
  } catch (error) {
    return notStarted(error, logger);
  }
}

interface Parts {
  readonly source: ConfigSource;
  readonly config: BridgeConfig;
  /** Told of each configuration that comes into force after the first. */
  readonly onConfig: (config: BridgeConfig) => void;
  readonly keys: ApiKeys;
  readonly registry: Registry;
  readonly host: HostProcess;
  readonly watch: ProcessWatch;
  readonly budgets: ShutdownBudgets | undefined;
  readonly logger: Logger;
}

async function serve(parts: Parts): Promise<Ending> {
  const { source, config, onConfig, keys, registry, host, watch, budgets, logger } = parts;
  const seams = { clock: systemClock, random: systemRandom(), logger };
  const auditor = await openAuditor(config.audit, seams, host.stderr);
  const supervisor = createSupervisor({ ...seams, config, registry, onConfig });
  const { store } = source;
  const confirm = (version: number): void => void confirmRunning(store, version, logger);
  const follower = new ConfigFollower({ ...seams, source, supervisor, env: host.env, onApplied: confirm });
  const sources = referenceSources(store.source, host.env);
  const configTransactions = createConfigTransactions({ ...seams, store, registry, sources, applier: supervisor });
  await tellUnconfirmed(store, config.configVersion, logger);
  let servers: Servers | undefined;
  try {
    servers = await openServers({
      supervisor,
      auditor,
      http: config.http,
      keys,
      seams,
      configWatch: () => withNotApplied(follower.facts(), configTransactions),
      configTransactions,
    });
    const first = await Promise.race([start(supervisor, logger), watch.asked]);
    if (first === "started") {
      confirm(config.configVersion);
      follower.start();
      watch.onReload(() => follower.reload());
    }
  } catch (error) {
    const ending = notStarted(error, logger);
    await shutDown({ supervisor, auditor, servers, budgets }, logger);
    return ending;
  }
  return untilTheEnd({ supervisor, auditor, servers, follower, budgets }, watch.asked, logger);
}

/** What a commit has left behind counts until the source is followed again. */
function withNotApplied(facts: ConfigWatch, transactions: ConfigTransactions): ConfigWatch {
  const left = transactions.notApplied();
  if (left === undefined || (facts.lastReloadAt ?? 0) > left.since) return facts;
  return { ...facts, lastError: facts.lastError ?? left.error };
}

/** Not bounded here: a shutdown ends it, and the supervisor bounds what it opens. */
async function start(supervisor: Supervisor, logger: Logger): Promise<"started"> {
  await supervisor.start(new AbortController().signal);
  const { routes, configVersion } = supervisor.view();
  const { instanceId } = supervisor;
  logger.info("bridge started", { instance_id: instanceId, config_version: configVersion, routes: routes.length });
  return "started";
}

function notStarted(error: unknown, logger: Logger): Ending {
  logger.error("the bridge cannot start", { error: messageOf(error) });
  return "not_started";
}
