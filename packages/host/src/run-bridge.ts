import { createRegistry, type Plugins } from "@bridge/config";
import type { BridgeHooks } from "@bridge/core";
import { silentLogger } from "@bridge/ports";
import { ConfiguredKeys } from "./configured-keys.ts";
import { fileOrigin } from "./config-origin.ts";
import { checkedFile, validateConfiguration } from "./configuration.ts";
import { createTables } from "./create-tables.ts";
import type { Ending } from "./exit-codes.ts";
import { checkFlags, type Flags, FLAGS } from "./flags.ts";
import type { HostProcess } from "./host-process.ts";
import { runProgram } from "./run-program.ts";
import { serveBridge } from "./serve-bridge.ts";
import type { ShutdownBudgets } from "./shut-down.ts";
import type { OpenTelemetry } from "./telemetry-export.ts";
import { tryMessage } from "./try-message.ts";
import { usualServers } from "./usual-servers.ts";

/** What makes one program out of the bridge. */
export interface BridgeApp {
  readonly program: { readonly name: string; readonly version: string };
  /** The adapters that a configuration may name. */
  readonly plugins: Plugins;
  /** How often a shutdown may spend `shutdown_timeout`. Default: `two`. */
  readonly shutdownBudgets?: ShutdownBudgets;
  /** What a `telemetry.otlp` block is carried out with. Default: the block is refused. */
  readonly telemetry?: OpenTelemetry;
  /** Functions of the program that are told what happens in the bridge. Default: none. */
  readonly hooks?: BridgeHooks | undefined;
}

/**
 * One bridge process, from its command line to its exit code (spec 3.4): reads the configuration from a file and the
 * keys from there or from the environment, opens the servers and the bridge, and ends both when it is asked to.
 *
 * The caller exits with the code: something that could not be stopped may otherwise keep the process alive. Never
 * rejects. When it resolves, the signals of the process are nobody's again.
 *
 * @example
 * process.exit(await runBridge({ program: { name: "bridge", version }, plugins }, process));
 */
export async function runBridge(app: BridgeApp, host: HostProcess): Promise<number> {
  return runProgram({ ...app.program, flags: FLAGS, run: (flags) => run(flags, app, host) }, host);
}

async function run(
  flags: Flags,
  { program, plugins, shutdownBudgets, telemetry, hooks }: BridgeApp,
  host: HostProcess,
): Promise<Ending> {
  checkFlags(flags);
  const registry = createRegistry(plugins);
  const { env } = host;
  if (flags.validate) {
    const origin = fileOrigin(flags.config, { env, servers: usualServers(env) });
    const keys = new ConfiguredKeys(env, silentLogger);
    const valid = await validateConfiguration(origin, registry, host, {
      keys: (http) => keys.of(http),
      exportsTelemetry: telemetry !== undefined,
    });
    return valid ? "answered" : "not_valid";
  }
  if (flags.createTables) {
    const config = await checkedFile(flags.config, registry, host);
    if (config === undefined) return "not_valid";
    await createTables(config, registry, host);
    return "answered";
  }
  if (flags.try !== "") return (await tryMessage(flags, registry, host)) ? "answered" : "not_valid";
  return serveBridge({
    registry,
    host,
    budgets: shutdownBudgets,
    telemetry,
    hooks,
    version: program.version,
    startEmpty: flags.startEmpty,
    prepare: ({ watch, logger }) => {
      const keys = new ConfiguredKeys(env, logger);
      return {
        origin: fileOrigin(flags.config, { env, servers: usualServers(env), watch, logger }),
        keys: (http) => keys.of(http),
        demandKeys: (http) => keys.demand(http),
        onHttp: (http) => keys.follow(http),
      };
    },
  });
}
