import { createAuditor, logSink } from "@bridge/audit";
import type { BridgeConfig, Registry } from "@bridge/config";
import { createSupervisor, type Supervisor } from "@bridge/core";
import { type Logger, systemClock, systemRandom } from "@bridge/ports";
import { type ApiKeys, apiKeys } from "./api-keys.ts";
import { configuration } from "./configuration.ts";
import type { Ending } from "./exit-codes.ts";
import type { Flags } from "./flags.ts";
import type { HostProcess } from "./host-process.ts";
import { type Log, openLog } from "./log.ts";
import { messageOf } from "./message-of.ts";
import { openServers, type Servers } from "./open-servers.ts";
import { shutDown } from "./shut-down.ts";
import { untilTheEnd } from "./until-the-end.ts";
import { type ProcessWatch, watchProcess } from "./watch-process.ts";

/** Runs a bridge until something ends it. Never rejects: what goes wrong is logged. */
export async function serveBridge(flags: Flags, registry: Registry, host: HostProcess): Promise<Ending> {
  let logger = openLog(host.stderr, "info");
  using watch = watchProcess(host, () => logger);
  try {
    const config = await configuration(flags, registry, host.env, logger);
    if (config === undefined) return "not_started";
    logger = openLog(host.stderr, config.bridge.logLevel);
    return await serve({ config, keys: apiKeys(config.http, host.env), registry, host, watch, logger });
  } catch (error) {
    return notStarted(error, logger);
  }
}

interface Parts {
  readonly config: BridgeConfig;
  readonly keys: ApiKeys;
  readonly registry: Registry;
  readonly host: HostProcess;
  readonly watch: ProcessWatch;
  readonly logger: Log;
}

async function serve({ config, keys, registry, host, watch, logger }: Parts): Promise<Ending> {
  const seams = { clock: systemClock, random: systemRandom(), logger };
  if (config.audit.file !== undefined) {
    logger.warn("audit.file has no effect: this version writes audit events to the log only");
  }
  // Audit events are no diagnostics: they are logged whatever the level of the log is.
  const sinks = config.audit.log ? [logSink(openLog(host.stderr, "info"))] : [];
  const auditor = createAuditor({ ...seams, sinks });
  const supervisor = createSupervisor({
    ...seams,
    config,
    registry,
    onConfig: ({ bridge }) => logger.setLevel(bridge.logLevel),
  });
  let servers: Servers | undefined;
  try {
    servers = await openServers({ supervisor, auditor, http: config.http, keys, seams });
    await Promise.race([start(supervisor, logger), watch.asked]);
  } catch (error) {
    const ending = notStarted(error, logger);
    await shutDown({ supervisor, auditor, servers }, logger);
    return ending;
  }
  return untilTheEnd({ supervisor, auditor, servers }, watch.asked, logger);
}

/** Not bounded here: a shutdown ends it, and the supervisor bounds what it opens. */
async function start(supervisor: Supervisor, logger: Logger): Promise<void> {
  await supervisor.start(new AbortController().signal);
  const { routes, configVersion } = supervisor.view();
  const { instanceId } = supervisor;
  logger.info("bridge started", { instance_id: instanceId, config_version: configVersion, routes: routes.length });
}

function notStarted(error: unknown, logger: Logger): Ending {
  logger.error("the bridge cannot start", { error: messageOf(error) });
  return "not_started";
}
