/** Kills the bridge again and again under traffic, breaks everything around it, and proves that nothing is lost. @module */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { type Flags, parseFlags, USAGE } from "./flags.ts";
import { report } from "./report/print.ts";
import { ProgressBar } from "./report/progress.ts";
import { EXIT_CODES, type Result, type Verdict, verdictOn } from "./report/result.ts";
import { forget, keepStores, openStage } from "./run/stage.ts";
import { torture } from "./run/torture.ts";

// Not code 1, which says something of the bridge. The guard cleans up.
process.once("uncaughtException", (error) => {
  console.error("\nA part of the torture itself has failed:", error);
  process.exit(EXIT_CODES.void);
});
process.exitCode = await main();

async function main(): Promise<number> {
  let flags: Flags;
  try {
    // `pnpm torture -- --kills 5` hands the dashes on.
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
    console.error(`\nThe torture has not come to its end (seed ${flags.seed}):`, error);
    return EXIT_CODES.void;
  }
}

async function run(flags: Flags): Promise<number> {
  console.log(`Seed ${flags.seed}: pnpm torture ${commandOf(flags)}`);
  const interrupted = new AbortController();
  const interrupt = (signal: NodeJS.Signals): void => interrupted.abort(new Error(`interrupted by ${signal}`));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupt);
  const bar = new ProgressBar(process.stderr);
  const show = bar.show.bind(bar);
  let [result, verdict]: [Result | undefined, Verdict | undefined] = [undefined, undefined];
  {
    await using stage = await openStage(flags);
    console.log(`Logs and stores: ${stage.folder}`);
    result = await torture(stage, flags, show, interrupted.signal).finally(() => {
      bar.end();
      // A terminal interrupts all processes at once: that some have ended then is no news.
      interrupted.signal.throwIfAborted();
    });
    verdict = verdictOn(result);
    if (verdict.kind !== "proved" || flags.keep) await keepStores(stage);
  }
  console.log(report(result, verdict));
  if (flags.out !== undefined) {
    await mkdir(dirname(flags.out), { recursive: true });
    await writeFile(flags.out, `${JSON.stringify({ ...result, verdict }, undefined, 1)}\n`);
  }
  if (verdict.kind === "proved" && !flags.keep) await forget(result.folder);
  else console.log(`\nLogs: ${result.folder}`);
  return EXIT_CODES[verdict.kind];
}

/** What repeats the plan of this run. */
function commandOf({ seed, kills, leastKills, rate, mode, routes, stores, troubles }: Flags): string {
  const lanes = troubles.length === 0 ? "none" : troubles.join(",");
  const least = leastKills === kills ? "" : ` --least-kills ${leastKills}`;
  return `--seed ${seed} --kills ${kills}${least} --rate ${rate} --mode ${mode} --routes ${routes.join(",")} --stores ${stores} --troubles ${lanes}`;
}
