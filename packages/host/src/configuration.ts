import { type BridgeConfig, emptyConfig, type Registry, type UnusableFile } from "@bridge/config";
import { deadline, type Logger } from "@bridge/ports";
import { type ConfigOrigin, fileOrigin } from "./config-origin.ts";
import type { ConfigSource } from "./config-source.ts";
import type { HostProcess } from "./host-process.ts";
import { type Overrule, overruledNowhere } from "./overrule.ts";
import { printableLines } from "./printable.ts";
import { whyUnusable } from "./unusable-file.ts";
import { unusableFiles } from "./unusable-files.ts";
import { usualServers } from "./usual-servers.ts";

const LOAD_TIMEOUT_MS = 30_000;

/**
 * The configuration to start with: of the source, or an empty one when there is none and may be (spec 1.8).
 * `undefined` when there is none to run with; the log then says why.
 */
export async function configuration(
  source: ConfigSource,
  {
    startEmpty,
    overrule = overruledNowhere,
  }: { readonly startEmpty: boolean; readonly overrule?: Overrule | undefined },
  logger: Logger,
): Promise<BridgeConfig | undefined> {
  const judged = await source.read(new AbortController().signal);
  if (judged.ok) return judged.config;
  if (!judged.missing) return undefined;
  const { source: file } = source.store;
  if (startEmpty) {
    logger.warn("no configuration: starting empty; it is taken when it appears", { source: file });
    return overrule(emptyConfig()).config;
  }
  logger.error("no configuration file: name one with -config, or allow an empty start", { file });
  return undefined;
}

/**
 * Tells, line by line, what is wrong with a configuration (`-validate`); resolves to whether nothing is.
 * @throws Error when reading takes longer than 30 seconds
 */
export async function validateConfiguration(
  origin: ConfigOrigin,
  registry: Registry,
  host: HostProcess,
  overrule: Overrule = overruledNowhere,
): Promise<boolean> {
  const overruled = overrule !== overruledNowhere;
  // What is overruled need not be of use.
  const config = await checkedConfiguration(origin, registry, host, ({ path, use, place }) =>
    overruled && (place[0] === "http" || place[0] === "audit") ? undefined : whyUnusable(path, use),
  );
  if (config === undefined) return false;
  for (const warning of overrule(config).warnings) host.stderr.write(printableLines(`warning: ${warning}\n`));
  const unusable = overruled ? unusableFiles(overrule(config).config) : [];
  for (const problem of unusable) host.stderr.write(printableLines(`${origin.store.source}: ${problem}\n`));
  if (unusable.length > 0) return false;
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
  using bound = deadline(LOAD_TIMEOUT_MS, new Error(`${source} and what it refers to could not be read in 30 s`));
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
