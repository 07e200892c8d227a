import {
  type BridgeConfig,
  emptyConfig,
  formatProblem,
  type HttpSection,
  type Registry,
  type UnusableFile,
} from "@bridge/config";
import { type Clock, type ConfigStore, type Logger, type StoredConfig, systemClock } from "@bridge/ports";
import { patientDeadline, printableLines } from "@bridge/ports/internal";
import { type ConfigOrigin, fileOrigin } from "./config-origin.ts";
import type { ConfigSource } from "./config-source.ts";
import type { HostProcess } from "./host-process.ts";
import { type Overrule, overruledNowhere } from "./overrule.ts";
import { startChecks } from "./start-checks.ts";
import { unusableFiles } from "./unusable-files.ts";
import { usualServers } from "./usual-servers.ts";

const LOAD_TIMEOUT_MS = 30_000;

export interface ValidateOptions {
  readonly overrule?: Overrule;
  /**
   * Makes the keys of a process that starts with this `http` block, and throws where it cannot. Default: keys are not
   * looked at.
   */
  readonly keys?: (http: HttpSection | undefined) => unknown;
  /** Whether the program carries out a `telemetry.otlp` block. Default: it does. */
  readonly exportsTelemetry?: boolean;
  readonly clock?: Pick<Clock, "now">;
}

/**
 * The configuration to start with: `instead`, which is not stored yet; else that of the source; or an empty one when
 * there is none and may be (spec 1.8). `undefined` when there is none to run with; the log then says why. Rejects only
 * with the signal's reason.
 */
export async function configuration(
  source: ConfigSource,
  {
    startEmpty,
    overrule = overruledNowhere,
    instead,
  }: {
    readonly startEmpty: boolean;
    readonly overrule?: Overrule | undefined;
    readonly instead?: StoredConfig | undefined;
  },
  logger: Logger,
  signal: AbortSignal,
): Promise<BridgeConfig | undefined> {
  const judged = await (instead === undefined
    ? source.read(signal, isGoneFrom(source.store))
    : source.judge(instead, signal));
  if (judged.ok) return judged.config;
  if (!judged.missing) return undefined;
  const { source: file } = source.store;
  if (startEmpty) return overrule(emptyConfig()).config;
  logger.error("no configuration file: name one with -config, or allow an empty start", { file });
  return undefined;
}

/** A document that is empty while its stores are being left is as good as removed: the former one can run. */
function isGoneFrom({ departures }: ConfigStore) {
  return async ({ document }: StoredConfig, signal: AbortSignal): Promise<boolean> => {
    if (Object.keys(document).length > 0) return false;
    try {
      for await (const _ of departures?.find(signal) ?? []) return true;
      return false;
    } catch {
      signal.throwIfAborted();
      // Whoever reads next what was being left says what is wrong with it.
      return false;
    }
  };
}

/**
 * Tells, line by line, what is wrong with a configuration (`-validate`), with the files that it names and with the keys
 * that would open its servers; resolves to whether nothing is. Certificates that are out of date are warned of: a start
 * uses them.
 * @throws Error when reading takes longer than 30 seconds
 */
export async function validateConfiguration(
  origin: ConfigOrigin,
  registry: Registry,
  host: HostProcess,
  { overrule = overruledNowhere, keys = () => {}, exportsTelemetry = true, clock = systemClock }: ValidateOptions = {},
): Promise<boolean> {
  const overruled = overrule !== overruledNowhere;
  const now = clock.now();
  const checks = startChecks({ overruled, keys, exportsTelemetry, now: () => now });
  const config = await checkedConfiguration(origin, registry, host, checks.whyUnusable);
  if (config === undefined) return false;
  for (const warning of overrule(config).warnings) host.stderr.write(printableLines(`warning: ${warning}\n`));
  const faults = overruled ? unusableFiles(overrule(config).config, now) : [];
  for (const { kind, words } of faults) {
    const told = kind === "warning" ? "warning: " : "";
    host.stderr.write(printableLines(`${told}${origin.store.source}: ${words}\n`));
  }
  const refusals = checks.refusals(config);
  for (const refusal of refusals)
    host.stderr.write(printableLines(`${origin.store.source}: ${formatProblem(refusal)}\n`));
  if (refusals.length > 0) return false;
  if (faults.some(({ kind }) => kind === "problem")) return false;
  host.stdout.write(`${origin.store.source}: valid\n`);
  return true;
}

/** The configuration of a file; `undefined` when something is wrong with it, which then stands on standard error. */
export function checkedFile(file: string, registry: Registry, host: HostProcess): Promise<BridgeConfig | undefined> {
  return checkedConfiguration(fileOrigin(file, { env: host.env, servers: usualServers(host.env) }), registry, host);
}

async function checkedConfiguration(
  origin: ConfigOrigin,
  registry: Registry,
  host: HostProcess,
  whyUnusableHere?: UnusableFile,
): Promise<BridgeConfig | undefined> {
  const { source } = origin.store;
  using bound = patientDeadline(
    systemClock,
    LOAD_TIMEOUT_MS,
    new Error(`${source} and what it refers to could not be read in 30 s`),
  );
  const checked = await origin.read(registry, bound.signal, whyUnusableHere);
  if (checked === "missing") {
    host.stderr.write(printableLines(`${source}: ${origin.whenMissing}\n`));
    return undefined;
  }
  for (const warning of checked.warnings) host.stderr.write(printableLines(`warning: ${warning}\n`));
  if (checked.ok) return checked.config;
  for (const problem of checked.problems) host.stderr.write(printableLines(`${problem}\n`));
  return undefined;
}
