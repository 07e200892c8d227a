/** Everything at once, for an hour or so: traffic, hostile messages, troubles, reloads, bad clients. Then the account. @module */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { machine } from "../../src/harness/machine.ts";
import { EXIT_CODES } from "../../torture/src/report/result.ts";
import { type Flags, parseFlags, USAGE } from "./flags.ts";
import { report } from "./report/print.ts";
import { problemsOf, type Result } from "./report/result.ts";
import { openScene } from "./scene.ts";
import { soak } from "./soak.ts";

// Not code 1, which says something of the bridge. The guard cleans up.
process.once("uncaughtException", (error) => {
  console.error("\nA part of the soak itself has failed:", error);
  process.exit(EXIT_CODES.void);
});
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
    console.error(`\nThe soak has not come to its end (seed ${flags.seed}):`, error);
    return EXIT_CODES.void;
  }
}

async function run(flags: Flags): Promise<number> {
  console.log(`Seed ${flags.seed}: pnpm soak --minutes ${flags.minutes} --rate ${flags.rate} --seed ${flags.seed}`);
  const interrupted = new AbortController();
  const interrupt = (signal: NodeJS.Signals): void => interrupted.abort(new Error(`interrupted by ${signal}`));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupt);
  const on = await machine();
  const result = await soaked(flags, interrupted.signal);
  const problems = problemsOf(result);
  console.log(report(result, problems));
  await mkdir(dirname(flags.out), { recursive: true });
  const { minutes, rate, seed } = flags;
  const written = { machine: on, problems, ...result, flags: { minutes, rate, seed } };
  await writeFile(flags.out, `${JSON.stringify(written, undefined, 1)}\n`);
  if (problems.length === 0 && !flags.keep) await rm(result.folder, { recursive: true, force: true });
  else console.log(`\nLogs: ${result.folder}`);
  return problems.length === 0 ? EXIT_CODES.proved : EXIT_CODES.disproved;
}

async function soaked(flags: Flags, signal: AbortSignal): Promise<Result> {
  await using scene = await openScene(flags);
  console.log(`Logs and stores: ${scene.folder}`);
  return await soak(scene, flags, (line) => console.error(line), signal);
}
