import { type BridgeConfig, emptyConfig, type Registry } from "@bridge/config";
import { formatLocatedProblem, loadConfigFile, type LoadedConfig } from "@bridge/config-file";
import { deadline, type Logger } from "@bridge/ports";
import type { ConfigSource } from "./config-source.ts";
import type { Flags } from "./flags.ts";
import type { HostProcess } from "./host-process.ts";

const LOAD_TIMEOUT_MS = 30_000;

/**
 * The configuration to start with: of the source, or an empty one when there is none and may be (spec 1.8).
 * `undefined` when there is none to run with; the log then says why.
 */
export async function configuration(
  source: ConfigSource,
  { startEmpty }: Flags,
  logger: Logger,
): Promise<BridgeConfig | undefined> {
  const judged = await source.read(new AbortController().signal);
  if (judged.ok) return judged.config;
  if (!judged.missing) return undefined;
  const file = source.store.source;
  if (startEmpty) {
    logger.warn("no configuration file: starting empty; it is taken when it appears", { file });
    return emptyConfig();
  }
  logger.error("no configuration file: name one with -config, or allow an empty start", { file });
  return undefined;
}

/**
 * Tells, line by line, what is wrong with a configuration file (`-validate`); resolves to whether nothing is.
 * @throws Error when reading takes longer than 30 seconds
 */
export async function validateFile(file: string, registry: Registry, host: HostProcess): Promise<boolean> {
  const config = await checkedFile(file, registry, host);
  if (config !== undefined) host.stdout.write(`${file}: valid\n`);
  return config !== undefined;
}

/** The configuration of a file; `undefined` when something is wrong with it, which then stands on standard error. */
export async function checkedFile(
  file: string,
  registry: Registry,
  host: HostProcess,
): Promise<BridgeConfig | undefined> {
  const loaded = await load(file, registry, host.env);
  if (loaded === "missing") {
    host.stderr.write(`${file}: there is no such file\n`);
    return undefined;
  }
  for (const warning of loaded.warnings) host.stderr.write(`warning: ${formatLocatedProblem(warning)}\n`);
  if (loaded.ok) return loaded.config;
  for (const problem of loaded.problems) host.stderr.write(`${formatLocatedProblem(problem)}\n`);
  return undefined;
}

async function load(file: string, registry: Registry, env: HostProcess["env"]): Promise<LoadedConfig | "missing"> {
  using bound = deadline(LOAD_TIMEOUT_MS, new Error(`${file} and what it refers to could not be read in 30 s`));
  return await loadConfigFile(file, registry, { env, signal: bound.signal });
}
