import { createRegistry, type Plugins, type Registry } from "@bridge/config";
import { validateFile } from "./configuration.ts";
import { type Ending, EXIT_CODES } from "./exit-codes.ts";
import { type Flags, parseFlags, usage, UsageError } from "./flags.ts";
import type { HostProcess } from "./host-process.ts";
import { messageOf } from "./message-of.ts";
import { serveBridge } from "./serve-bridge.ts";
import type { ShutdownBudgets } from "./shut-down.ts";
import { tryMessage } from "./try-message.ts";

/** What makes one program out of the bridge. */
export interface BridgeApp {
  readonly program: { readonly name: string; readonly version: string };
  /** The adapters that a configuration may name. */
  readonly plugins: Plugins;
  /** How often a shutdown may spend `shutdown_timeout`. Default: `two`. */
  readonly shutdownBudgets?: ShutdownBudgets;
}

/**
 * One bridge process, from its command line to its exit code (spec 3.4): reads the configuration, opens the servers
 * and the bridge, and ends both when it is asked to.
 *
 * The caller exits with the code: something that could not be stopped may otherwise keep the process alive. Never
 * rejects. When it resolves, the signals of the process are nobody's again.
 *
 * @example
 * process.exit(await runBridge({ program: { name: "bridge", version }, plugins }, process));
 */
export async function runBridge(app: BridgeApp, host: HostProcess): Promise<number> {
  try {
    return EXIT_CODES[await run(app, host)];
  } catch (error) {
    host.stderr.write(`${app.program.name}: ${messageOf(error)}\n`);
    return EXIT_CODES.not_started;
  }
}

async function run({ program, plugins, shutdownBudgets }: BridgeApp, host: HostProcess): Promise<Ending> {
  let flags: Flags;
  try {
    flags = parseFlags(host.argv.slice(2));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    host.stderr.write(`${program.name}: ${error.message}\n\n${usage(program.name)}`);
    return "misused";
  }
  if (flags.help) return answer(usage(program.name), host);
  if (flags.version) return answer(`${program.name} ${program.version}\n`, host);
  const registry: Registry = createRegistry(plugins);
  if (flags.validate) return (await validateFile(flags.config, registry, host)) ? "answered" : "not_valid";
  if (flags.try !== "") return (await tryMessage(flags, registry, host)) ? "answered" : "not_valid";
  return serveBridge({ flags, registry, host, budgets: shutdownBudgets });
}

function answer(text: string, host: HostProcess): Ending {
  host.stdout.write(text);
  return "answered";
}
