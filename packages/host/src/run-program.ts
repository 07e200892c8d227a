import { type Ending, EXIT_CODES } from "./exit-codes.ts";
import { type FlagsOf, type FlagTable, parseFlags, usage, UsageError } from "./flag-table.ts";
import type { HostProcess } from "./host-process.ts";
import { messageOf } from "./message-of.ts";
import { printableLines } from "@bridge/ports/internal";

/** A program with flags, that ends with one of the exit codes of the bridge. */
export interface Program<Table extends FlagTable> {
  readonly name: string;
  readonly version: string;
  /** Besides `-version` and `-help`, which every program has. */
  readonly flags: Table;
  /** What `-help` says beyond the flags, such as what else steers the program. */
  readonly notes?: string;
  /** @throws UsageError when the flags do not go together */
  run(flags: FlagsOf<Table>, host: HostProcess): Promise<Ending>;
}

const OWN_FLAGS = {
  version: { name: "version", initial: false as boolean, help: "print the version" },
  help: { name: "help", initial: false as boolean, help: "print this" },
} as const satisfies FlagTable;

/**
 * A program from its command line to its exit code: 2 with the usage for a command line that is not one of its own, 1
 * with a sentence on standard error for whatever it throws. Never rejects.
 */
export async function runProgram<const Table extends FlagTable>(
  program: Program<Table>,
  host: HostProcess,
): Promise<number> {
  try {
    return EXIT_CODES[await run(program, host)];
  } catch (error) {
    host.stderr.write(printableLines(`${program.name}: ${messageOf(error)}\n`));
    return EXIT_CODES.not_started;
  }
}

async function run<Table extends FlagTable>(program: Program<Table>, host: HostProcess): Promise<Ending> {
  const { name, version, notes } = program;
  const help = usage(name, { ...program.flags, ...OWN_FLAGS });
  try {
    const args = host.argv.slice(2);
    const flags: Readonly<Record<string, unknown>> = parseFlags({ ...program.flags, ...OWN_FLAGS }, args);
    if (flags["help"] === true) return answer(notes === undefined ? help : `${help}\n${notes}`, host);
    if (flags["version"] === true) return answer(`${name} ${version}\n`, host);
    return await program.run(flags as FlagsOf<Table>, host);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    host.stderr.write(printableLines(`${name}: ${error.message}\n\n${help}`));
    return "misused";
  }
}

function answer(text: string, host: HostProcess): Ending {
  host.stdout.write(text);
  return "answered";
}
