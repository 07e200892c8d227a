/** Runs the same scenarios in the simulation's models and with real processes, brokers and stores, and compares. @module */
import { loadavg } from "node:os";
import { runProgram, writeFigures } from "../../src/harness/run-program.ts";
import { compare, type Compared } from "./compare.ts";
import { type Flags, parseFlags, USAGE } from "./flags.ts";
import { openRealStage } from "./real/stage.ts";
import { sumsOf, summary } from "./summary.ts";

await runProgram({ name: "comparison", usage: USAGE, parseFlags, run });

async function run({ seed, scenarios, from, bridge, out }: Flags, interrupted: AbortSignal) {
  console.log(`Seed ${seed}: pnpm compare --seed ${seed} --scenarios ${scenarios} --from ${from}`);
  await using stage = await openRealStage(bridge);
  const all: Compared[] = [];
  const begun = performance.now();
  for (let number = from; number < from + scenarios && !interrupted.aborted; number++) {
    const compared = await compare(stage, seed, number);
    all.push(compared);
    const { name, what, differences, seconds } = compared;
    console.log(`${name} ${differences.length === 0 ? "same" : "DIFFERS"} after ${seconds[1].toFixed(1)} s: ${what}`);
    for (const difference of differences) console.log(`  ${difference}`);
  }
  const figures = { ...sumsOf(all), seconds: (performance.now() - begun) / 1_000, load: loadavg()[2] };
  console.log(summary(figures));
  if (out !== undefined) await writeFigures(out, { seed, from, ...figures, all });
  return figures.different === 0 ? ("proved" as const) : ("disproved" as const);
}
