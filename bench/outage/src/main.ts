/** Takes the target of a route away for minutes under load: memory has to stay flat, and nothing may be lost. @module */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { machine } from "../../src/harness/machine.ts";
import { type Flags, parseFlags, USAGE } from "./flags.ts";
import { outage, WARM_UP_S } from "./outage.ts";
import { problemsOf, report, type Result } from "./result.ts";
import { openScene } from "./scene.ts";

/** As those of the torture. */
const EXIT_CODES = { proved: 0, disproved: 1, void: 2 } as const;

process.exitCode = await main();

async function main(): Promise<number> {
  let flags: Flags;
  try {
    flags = parseFlags(process.argv.slice(2).filter((argument) => argument !== "--"));
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return EXIT_CODES.void;
  }
  if (flags.help) {
    console.log(USAGE);
    return EXIT_CODES.proved;
  }
  try {
    return await run(flags);
  } catch (error) {
    console.error("\nThe outage has not come to its end:", error);
    return EXIT_CODES.void;
  }
}

async function run(flags: Flags): Promise<number> {
  const interrupted = new AbortController();
  const interrupt = (signal: NodeJS.Signals): void => interrupted.abort(new Error(`interrupted by ${signal}`));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupt);
  const messages = flags.rate * (flags.minutes * 60 + WARM_UP_S);
  const on = await machine();
  const result = await lived(flags, messages, interrupted.signal);
  const problems = problemsOf(result);
  console.log(report(result, problems));
  if (flags.out !== undefined) {
    await mkdir(dirname(flags.out), { recursive: true });
    await writeFile(flags.out, `${JSON.stringify({ machine: on, ...result, problems })}\n`);
  }
  if (problems.length > 0) {
    console.log(`\nLog and stores: ${result.folder}`);
    return EXIT_CODES.disproved;
  }
  await rm(result.folder, { recursive: true, force: true });
  return EXIT_CODES.proved;
}

async function lived(flags: Flags, messages: number, signal: AbortSignal): Promise<Result> {
  await using scene = await openScene(flags, messages);
  return await outage(scene, flags, messages, (line) => console.error(line), signal);
}
