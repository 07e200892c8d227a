import {
  type BridgeConfig,
  type ConfigTransactions,
  type ConfigWatchSection,
  createConfigTransactions,
  emptyConfig,
  type HttpSection,
  type Registry,
  type Reverted,
  type SettledProbation,
  settleProbation,
  settleStaged,
} from "@bridge/config";
import { type BridgeHooks, createRecorder, createSupervisor, instanceIdOf, type Supervisor, Veils } from "@bridge/core";
import type { AuditEntry } from "@bridge/audit";
import type { ConfigWatch, KeyRefresh } from "@bridge/http-monitor";
import { type ConfigStore, type Logger, type Seams, type StoredConfig, systemClock, systemRandom } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { type Family, type Measured, ProcessFigures, readMetrics } from "@bridge/telemetry";
import type { Companion } from "./companion.ts";
import { configChanges } from "./config-changes.ts";
import { ConfigFollower } from "./config-follower.ts";
import type { ConfigOrigin } from "./config-origin.ts";
import { ConfigSource } from "./config-source.ts";
import { configuration } from "./configuration.ts";
import { watchDescriptors } from "./descriptor-watch.ts";
import type { Ending } from "./exit-codes.ts";
import type { HostProcess } from "./host-process.ts";
import { openLog } from "./log.ts";
import { messageOf } from "./message-of.ts";
import { openAuditor } from "./open-auditor.ts";
import { openServers, type Servers } from "./open-servers.ts";
import { type Overrule, overruling } from "./overrule.ts";
import type { ServerKeys } from "./server-keys.ts";
import { shutDown, type ShutdownBudgets } from "./shut-down.ts";
import { startChecks } from "./start-checks.ts";
import { type OpenTelemetry, openTelemetry, type TelemetryExport } from "./telemetry-export.ts";
import { confirmRunning, tellUnconfirmed } from "./unconfirmed-commit.ts";
import { untilTheEnd } from "./until-the-end.ts";
import { recordJob } from "./record-job.ts";
import { type ProcessWatch, watchProcess } from "./watch-process.ts";

const STORE_CLOSE_MS = 1_000;

/** What a process is given to make its parts of. */
export interface Surroundings extends Seams {
  /** How the configuration in force wants its source to be watched. */
  readonly watch: () => ConfigWatchSection;
}

/** What a companion is given. */
export interface Measurable extends Seams {
  readonly instanceId: string;
  /** Everything that is counted in this process; never rejects. */
  readonly readMetrics: () => Promise<readonly Family[]>;
}

/** What makes one process out of the bridge. */
export interface ProcessParts {
  readonly origin: ConfigOrigin;
  /** What of the configuration the process does not take from it. Default: nothing. */
  readonly overrule?: Overrule | undefined;
  /**
   * The keys of a process that starts with this `http` block. Asked at the start, and again for each configuration that
   * is to come into force: a throw refuses it.
   */
  readonly keys: (http: HttpSection | undefined) => ServerKeys;
  /**
   * Throws when a change that somebody makes over the admin server would leave nobody who can make the next one, now or after a
   * restart. Default: when `keys` throws.
   */
  readonly demandKeys?: ((http: HttpSection | undefined) => void) | undefined;
  /** Told of the `http` block of each configuration that comes into force after the first. Default: nothing follows it. */
  readonly onHttp?: ((http: HttpSection | undefined) => void) | undefined;
  /** What is known of keys that a companion exchanges. Default: they stay. */
  readonly keyRefresh?: (() => KeyRefresh | undefined) | undefined;
  /** What goes on besides the bridge. Default: nothing. */
  readonly companions?: ((measured: Measurable) => readonly Companion[]) | undefined;
}

export interface ServeOptions {
  readonly registry: Registry;
  readonly host: HostProcess;
  /** Whether a missing configuration means an empty bridge, rather than an error (spec 1.8). */
  readonly startEmpty: boolean;
  /** How often a shutdown may spend `shutdown_timeout`. Default: `two`. */
  readonly budgets?: ShutdownBudgets | undefined;
  /** What a `telemetry.otlp` block is carried out with. Default: the block is refused. */
  readonly telemetry?: OpenTelemetry | undefined;
  /** Functions of the program that are told what happens in the bridge. Default: none. */
  readonly hooks?: BridgeHooks | undefined;
  /** Of the program, for whoever looks at its telemetry. */
  readonly version?: string | undefined;
  /** A rejection is a failed start. It is not waited for when the process is asked to end meanwhile. */
  readonly prepare: (surroundings: Surroundings) => ProcessParts | Promise<ProcessParts>;
}

/** Runs a bridge until something ends it. Never rejects: what goes wrong is logged. */
export async function serveBridge(serving: ServeOptions): Promise<Ending> {
  const { registry, host, startEmpty, prepare } = serving;
  const veils = new Veils();
  const logger = openLog(host.stderr, "info", veils.over);
  using watch = watchProcess(host, () => logger);
  const { ending } = watch;
  let inForce = emptyConfig();
  const onConfig = (config: BridgeConfig): void => {
    inForce = config;
    veils.remember(config.veils);
    logger.setLevel(config.bridge.logLevel);
  };
  const seams: Seams = { clock: systemClock, random: systemRandom(), logger };
  using descriptors = watchDescriptors(seams);
  try {
    const prepared = (async () => prepare({ ...seams, watch: () => inForce.configWatch }))();
    const parts = await orAborted(prepared, ending);
    try {
      const source = new ConfigSource({ ...parts, ...seams, registry });
      const options = { startEmpty, overrule: parts.overrule };
      const read = (instead?: StoredConfig) => configuration(source, { ...options, instead }, logger, ending);
      const begun = await orAborted(settleProbation(parts.origin.store, seams, read), ending);
      const { settled, configuration: config } = begun;
      if (config === undefined) return "not_started";
      onConfig(config);
      const keysInForce = parts.keys(config.http);
      const onNext = (next: BridgeConfig): void => {
        onConfig(next);
        parts.onHttp?.(next.http);
      };
      const given = { source, config, settled, onConfig: onNext, keysInForce, watch, veils, seams };
      return await serve({ ...serving, ...parts, ...given });
    } finally {
      await closeStore(parts.origin.store, seams);
    }
  } catch (error) {
    if (error !== ending.reason) return notStarted(error, logger);
    logger.info("asked to end before the start", { signal: await watch.asked });
    return "stopped";
  } finally {
    // A start that fails for want of one is over before the first look.
    descriptors.look();
  }
}

interface Serving extends ServeOptions, ProcessParts {
  readonly source: ConfigSource;
  readonly config: BridgeConfig;
  readonly settled: SettledProbation | undefined;
  /** Told of each configuration that comes into force after the first. */
  readonly onConfig: (config: BridgeConfig) => void;
  readonly keysInForce: ServerKeys;
  readonly watch: ProcessWatch;
  readonly veils: Veils;
  readonly seams: Seams;
}

async function serve(serving: Serving): Promise<Ending> {
  const { source, config, onConfig, keys, keysInForce, keyRefresh, registry, host, watch, budgets, seams } = serving;
  const { veils } = serving;
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
    onConfig,
    onJob: (event) => recordJob(auditor, event),
  });
  const auditor = await orAborted(openAuditor(config.audit, seams, host.stderr, veils.over), ending);
  const { store, sources } = source.origin;
  const confirm = (version: number): void => {
    if (transactions.probation() === undefined) void confirmRunning(store, version, seams);
  };
  const left = await orAborted(settleStaged(store, instanceId, seams), ending);
  const applier = serving.overrule === undefined ? supervisor : overruling(supervisor, serving.overrule);
  const configTransactions = createConfigTransactions({
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
    settled: serving.settled ?? (left && { reverted: left }),
    onReverted: (reverted) => void auditor.record(revertedEntry(reverted)),
    onNotInForce: () => follower.reload(),
  });
  const transactions = configTransactions;
  const follower = new ConfigFollower({ ...seams, source, supervisor, transactions, keys, onApplied: confirm });
  if (transactions.probation() === undefined) await tellUnconfirmed(store, config.configVersion, seams, ending);
  let servers: Servers | undefined;
  const configWatch = () => ({
    ...withNotApplied(follower.facts(), transactions),
    probation: transactions.probation(),
  });
  using figures = new ProcessFigures(seams.clock);
  using recorder = createRecorder({
    supervisor,
    clock: seams.clock,
    outside: () => ({
      now: seams.clock.now(),
      auditFailures: auditor.failures(),
      certificates: (servers?.stats() ?? []).flatMap(({ server, stats: { tls } }) =>
        tls === undefined ? [] : [{ server, expiresAt: tls.expiresAt }],
      ),
      loopP99Ms: figures.loopP99Ms,
      configError: configWatch().lastError,
      probationEndsAt: transactions.withdrawn() === undefined ? transactions.probation()?.confirmBy : undefined,
      probationLeft: transactions.withdrawn() ?? transactions.leftElsewhere()?.told ?? transactions.leftBehind(),
    }),
  });
  const measured = (): Measured => ({
    supervisor,
    servers: servers?.stats() ?? [],
    process: figures,
    auditFailures: auditor.failures(),
    keyRefreshFailures: keyRefresh?.()?.failures,
    config: configChanges(configWatch(), follower, transactions),
  });
  const readAll = async () => [...(await readMetrics(measured(), seams.clock)), ...(telemetry?.families() ?? [])];
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
      configWatch,
      keyRefresh,
      readMetrics: readAll,
      configTransactions,
      recorder,
    });
    for (const companion of companions) {
      companion.start();
      started.push(companion);
    }
    const first = await Promise.race([start(supervisor, logger), watch.asked]);
    if (first === "started") {
      confirm(config.configVersion);
      follower.start();
      watch.onReload(() => follower.reload());
    }
  } catch (error) {
    const ended = notStarted(error, logger);
    await shutDown({ supervisor, auditor, servers, companions: started, budgets }, seams, "failed");
    return ended;
  }
  const opened = { supervisor, auditor, servers, follower, companions, budgets, transactions };
  return await untilTheEnd(opened, watch.asked, seams);
}

/** Done by the process, in the name of who had committed it. */
function revertedEntry({ version, formerVersion, why, detail, actor }: Reverted): AuditEntry {
  const said = detail !== undefined && { reason: detail };
  return {
    action: "config.reverted",
    actor,
    outcome: "success",
    clientAddr: "",
    detail: { version, former_version: formerVersion, why, ...said },
  };
}

/** What a commit has left behind counts until the source is followed again; what is taken back until it is stored again. */
function withNotApplied(facts: ConfigWatch, transactions: ConfigTransactions): ConfigWatch {
  const withdrawn = transactions.withdrawn();
  if (withdrawn !== undefined) return { ...facts, lastError: withdrawn };
  const left = transactions.notApplied();
  if (left === undefined || (facts.lastReloadAt ?? 0) > left.since) return facts;
  return { ...facts, lastError: facts.lastError ?? left.error };
}

/** Nobody asks it any more. Never rejects, and waits for no more than a moment. */
async function closeStore(store: ConfigStore, { clock, logger }: Seams): Promise<void> {
  using bound = deadline(clock, STORE_CLOSE_MS, new Error(`not closed in ${STORE_CLOSE_MS} ms`));
  try {
    await orAborted(Promise.resolve(store[Symbol.asyncDispose]()), bound.signal);
  } catch (error) {
    logger.warn("the store of the configuration is not closed", { error: messageOf(error) });
  }
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
