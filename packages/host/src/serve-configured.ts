import {
  type BridgeConfig,
  createConfigTransactions,
  type LeftBehind,
  type SettledProbation,
  settleStaged,
} from "@bridge/config";
import { createRecorder, createSupervisor, instanceIdOf, type Supervisor, type Veils } from "@bridge/core";
import type { Logger, Seams } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import { ProcessFigures, readMetrics } from "@bridge/telemetry";
import type { Companion } from "./companion.ts";
import { ConfigFollower } from "./config-follower.ts";
import type { ConfigSource } from "./config-source.ts";
import { configWatchOf } from "./config-watch.ts";
import type { DepartureNotice } from "./departure-notice.ts";
import type { Ending } from "./exit-codes.ts";
import { lastLook } from "./last-look.ts";
import type { LeftFormer } from "./former-configuration.ts";
import { notStarted } from "./not-started.ts";
import { openAuditor } from "./open-auditor.ts";
import { openServers, type Servers } from "./open-servers.ts";
import { overruling } from "./overrule.ts";
import { type CountedParts, measuredIn, outsideFacts } from "./process-figures.ts";
import { recordJob } from "./record-job.ts";
import { recordReverted } from "./record-reverted.ts";
import type { ServeOptions, ProcessParts } from "./serve-options.ts";
import type { ServerKeys } from "./server-keys.ts";
import { shutDown } from "./shut-down.ts";
import { startChecks } from "./start-checks.ts";
import { openTelemetry, type TelemetryExport } from "./telemetry-export.ts";
import { confirmRunning, tellUnconfirmed } from "./unconfirmed-commit.ts";
import { untilTheEnd } from "./until-the-end.ts";
import type { ProcessWatch } from "./watch-process.ts";

/** A process that has read its configuration. */
export interface Serving extends ServeOptions, ProcessParts {
  readonly source: ConfigSource;
  readonly config: BridgeConfig;
  readonly settled: SettledProbation | undefined;
  /** What processes before have left in stores of former versions. */
  readonly leftBehind: readonly LeftBehind[];
  /** What people have to know of what a process before was leaving. */
  readonly departureNotice: DepartureNotice | undefined;
  /**
   * What is stored, when `config` is what the process before was leaving: to be brought into force as a changed
   * document.
   */
  readonly next?: BridgeConfig | undefined;
  /** What the process before was leaving, and is not run. */
  readonly left?: LeftFormer | undefined;
  /** Told of each configuration that comes into force after the first. */
  readonly onConfig: (config: BridgeConfig) => void;
  readonly keysInForce: ServerKeys;
  readonly watch: ProcessWatch;
  readonly veils: Veils;
  readonly seams: Seams;
}

/**
 * Runs a bridge with the configuration that it starts with, until something ends it. Rejects, with all closed, when
 * `next` is there and what came before it cannot start.
 */
export async function serveConfigured(serving: Serving): Promise<Ending> {
  const { source, config, onConfig, keys, keysInForce, keyRefresh, registry, host, watch, budgets, seams } = serving;
  const { veils, next, left, departureNotice } = serving;
  const { logger } = seams;
  const instanceId = instanceIdOf(config, seams.random);
  const who = { instanceId, version: serving.version };
  const request = { ...seams, ...who, env: host.env, readMetrics: () => readAll() };
  const { ending } = watch;
  const telemetry: TelemetryExport | undefined = await orAborted(
    openTelemetry(serving.telemetry, config, request),
    ending,
  );
  const supervisor = createSupervisor({
    ...seams,
    config,
    registry,
    instanceId,
    veils,
    tracer: telemetry?.tracer,
    hooks: serving.hooks,
    departures: left === undefined ? source.store.departures : left.departures,
    onConfig,
    onJob: (event) => recordJob(auditor, event),
  });
  const auditor = await orAborted(openAuditor(config.audit, seams, host.stderr, veils.over), ending);
  const { store, sources } = source.origin;
  const confirm = (version: number): void => {
    if (transactions.probation() === undefined) void confirmRunning(store, version, seams);
  };
  const staged = await orAborted(settleStaged(store, instanceId, seams), ending);
  const applier = serving.overrule === undefined ? supervisor : overruling(supervisor, serving.overrule);
  const transactions = createConfigTransactions({
    ...seams,
    store,
    registry,
    sources,
    startChecks: startChecks({
      overruled: serving.overrule !== undefined,
      keys: serving.demandKeys ?? keys,
      exportsTelemetry: serving.telemetry !== undefined,
      now: () => seams.clock.now(),
    }),
    applier,
    instanceId,
    settled: serving.settled ?? (staged && { reverted: staged }),
    leftBehind: [left?.leftBehind ?? [], serving.leftBehind].flat(),
    startsWith: config,
    onReverted: (reverted) => recordReverted(auditor, reverted),
    onNotInForce: () => follower.reload(),
  });
  const follower = new ConfigFollower({ ...seams, source, supervisor, transactions, keys, onApplied: confirm });
  if (transactions.probation() === undefined) await tellUnconfirmed(store, config.configVersion, seams, ending);
  using figures = new ProcessFigures(seams.clock);
  let servers: Servers | undefined;
  const counted = (): CountedParts => ({
    supervisor,
    auditor,
    follower,
    transactions,
    departureNotice,
    figures,
    servers,
    keyRefresh,
  });
  using recorder = createRecorder({
    supervisor,
    clock: seams.clock,
    outside: () => outsideFacts(counted(), seams.clock),
  });
  const readAll = async () => [
    ...(await readMetrics(measuredIn(counted()), seams.clock)),
    ...(telemetry?.families() ?? []),
  ];
  const own = serving.companions?.({ ...seams, instanceId, readMetrics: readAll }) ?? [];
  const companions = [...own, ...(telemetry?.exports ?? [])];
  const started: Companion[] = [];
  try {
    servers = await openServers({
      supervisor,
      auditor,
      http: config.http,
      keys: keysInForce,
      seams,
      version: serving.version,
      configWatch: () => configWatchOf(follower, transactions),
      keyRefresh,
      readMetrics: readAll,
      configTransactions: transactions,
      recorder,
    });
    for (const companion of companions) {
      companion.start();
      started.push(companion);
    }
    if (next !== undefined) await supervisor.announce(next);
    const first = await Promise.race([start(supervisor, logger), watch.asked]);
    if (first === "started") {
      confirm(config.configVersion);
      // Before it is said where that is kept.
      await left?.running();
      transactions.started(config);
      follower.start();
      if (next !== undefined) follower.reload();
      watch.onReload(() => follower.reload());
    }
  } catch (error) {
    const ended = notStarted(error, logger);
    await shutDown({ supervisor, auditor, servers, companions: started, budgets }, seams, "failed");
    if (next !== undefined) throw error;
    return ended;
  }
  const opened = {
    supervisor,
    auditor,
    servers,
    follower,
    companions,
    budgets,
    transactions,
    lastLook: () => lastLook(source, supervisor, seams),
  };
  return await untilTheEnd(opened, watch.asked, seams);
}

/** Not bounded here: a shutdown ends it, and the supervisor bounds what it opens. */
async function start(supervisor: Supervisor, logger: Logger): Promise<"started"> {
  await supervisor.start(new AbortController().signal);
  const { routes, configVersion } = supervisor.view();
  const { instanceId } = supervisor;
  logger.info("bridge started", { instance_id: instanceId, config_version: configVersion, routes: routes.length });
  return "started";
}
