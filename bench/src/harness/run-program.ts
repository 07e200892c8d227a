import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** `disproved`: the bridge has broken its word. `void`: the run proves nothing, by no fault of the bridge. */
export const EXIT_CODES = { proved: 0, disproved: 1, void: 2 } as const;

/** What all programs know that hold the bridge to its word. */
export interface CommonFlags {
  readonly help: boolean;
  readonly seed?: string;
}

export interface Program<Flags extends CommonFlags> {
  /** As in "the soak". */
  readonly name: string;
  readonly usage: string;
  /** Throws an error that says what is wrong with a flag. */
  readonly parseFlags: (args: readonly string[]) => Flags;
  /** `signal` aborts when the program is interrupted. */
  readonly run: (flags: Flags, signal: AbortSignal) => Promise<keyof typeof EXIT_CODES>;
}

/** Runs a program to its end, whose exit code says what was found out. */
export async function runProgram<Flags extends CommonFlags>(program: Program<Flags>): Promise<void> {
  // Not code 1, which says something of the bridge. The guard cleans up.
  process.once("uncaughtException", (error) => {
    console.error(`\nA part of the ${program.name} itself has failed:`, error);
    process.exit(EXIT_CODES.void);
  });
  process.exitCode = await exitCodeOf(program);
}

async function exitCodeOf<Flags extends CommonFlags>({
  name,
  usage,
  parseFlags,
  run,
}: Program<Flags>): Promise<number> {
  let flags: Flags;
  try {
    // `pnpm torture -- --kills 5` hands the dashes on.
    flags = parseFlags(process.argv.slice(2).filter((argument) => argument !== "--"));
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    return EXIT_CODES.void;
  }
  if (flags.help) {
    console.log(usage);
    return EXIT_CODES.proved;
  }
  const interrupted = new AbortController();
  const interrupt = (signal: NodeJS.Signals): void => interrupted.abort(new Error(`interrupted by ${signal}`));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupt);
  try {
    return EXIT_CODES[await run(flags, interrupted.signal)];
  } catch (error) {
    const seed = flags.seed === undefined ? "" : ` (seed ${flags.seed})`;
    console.error(`\nThe ${name} has not come to its end${seed}:`, error);
    return EXIT_CODES.void;
  }
}

/** Writes figures as JSON; makes the folder. */
export async function writeFigures(path: string, figures: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify(figures, undefined, 1)}\n`);
}
