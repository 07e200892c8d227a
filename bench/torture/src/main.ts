/** Kills the bridge again and again under traffic, breaks everything around it, and proves that nothing is lost. @module */
import { runProgram, writeFigures } from "../../src/harness/run-program.ts";
import { type Flags, parseFlags, USAGE } from "./flags.ts";
import { report } from "./report/print.ts";
import { ProgressBar } from "./report/progress.ts";
import { type Result, type Verdict, verdictOn } from "./report/result.ts";
import { forget, keepStores, openStage } from "./run/stage.ts";
import { torture } from "./run/torture.ts";

await runProgram({ name: "torture", usage: USAGE, parseFlags, run });

async function run(flags: Flags, interrupted: AbortSignal): Promise<Verdict["kind"]> {
  console.log(`Seed ${flags.seed}: pnpm torture ${commandOf(flags)}`);
  const bar = new ProgressBar(process.stderr);
  const show = bar.show.bind(bar);
  let [result, verdict]: [Result | undefined, Verdict | undefined] = [undefined, undefined];
  {
    await using stage = await openStage(flags);
    console.log(`Logs and stores: ${stage.folder}`);
    result = await torture(stage, flags, show, interrupted).finally(() => {
      bar.end();
      // A terminal interrupts all processes at once: that some have ended then is no news.
      interrupted.throwIfAborted();
    });
    verdict = verdictOn(result);
    if (verdict.kind !== "proved" || flags.keep) await keepStores(stage);
  }
  console.log(report(result, verdict));
  if (flags.out !== undefined) await writeFigures(flags.out, { ...result, verdict });
  if (verdict.kind === "proved" && !flags.keep) await forget(result.folder);
  else console.log(`\nLogs: ${result.folder}`);
  return verdict.kind;
}

/** What repeats the plan of this run. */
function commandOf({ seed, kills, leastKills, rate, mode, routes, stores, troubles, embedded }: Flags): string {
  const lanes = troubles.length === 0 ? "none" : troubles.join(",");
  const least = leastKills === kills ? "" : ` --least-kills ${leastKills}`;
  const bridge = embedded ? "--embedded" : `--mode ${mode} --routes ${routes.join(",")} --stores ${stores}`;
  return `--seed ${seed} --kills ${kills}${least} --rate ${rate} ${bridge} --troubles ${lanes}`;
}
